(() => {
const { abs, pow, exp, log, sqrt, tanh, sin, cos, asin, acos, atan, max, min, sign } = Math;
const D = {{ data|raw }};
const [DENOMINATOR, BASE, EXPONENT, SATURATION, TINY] = D.floors;
const clipped = (x, limit) => min(max(x, -limit), limit);
const sat = (x) => clipped(x, SATURATION);
const away = (x) => abs(x) >= DENOMINATOR ? x : x < 0 || Object.is(x, -0) ? -DENOMINATOR : DENOMINATOR;
const flushed = (x) => x < TINY ? 0 : x;
const law = (X, C) => { {{ body|raw }} };
const slope = (X, j) => {
  const h = 1e-3 * sqrt(D.covariance[j][j]);
  if (!(h > 0)) return 0;
  const at = (c) => law(X, D.coefficients.map((v, i) => i === j ? c : v));
  return (at(D.coefficients[j] + h) - at(D.coefficients[j] - h)) / (2 * h);
};
const half = (X, f, noise) => {
  const t = D.t[noise ? 1 : 0];
  if (t === null) return Infinity;
  const J = D.coefficients.map((_, j) => slope(X, j));
  let variance = noise ? D.noise[0] ** 2 + (D.noise[1] * f) ** 2 : 0;
  J.forEach((a, i) => J.forEach((b, j) => { variance += a * D.covariance[i][j] * b; }));
  return t * sqrt(max(variance, 0));
};
const inside = (X) => X.every((x, i) => !D.limits[i] || (x >= D.limits[i][0] && x <= D.limits[i][1]));
const answer = (X) => {
  const f = law(X, D.coefficients);
  return { value: f, half: half(X, f, !D.events), own: half(X, f, false), inside: inside(X) };
};
const minus = (text) => text.replace(/-(?=[\d.])/g, "\u2212").replace("e+", "e");
const unit = (text, name) => name ? text + "\u00a0" + name : text;
const magnitude = (x) => x ? Math.floor(Math.log10(abs(x))) : 0;
const write = (x, h) => {
  const m = magnitude(x), places = h > 0 && isFinite(h) ? min(1 - magnitude(h), 7 - m) : 2 - m;
  if (x && (m < -4 || m > 6)) return minus(x.toExponential(min(max(places + m, 0), 20)));
  return minus((places < 0 ? Math.round(x * 10 ** places) / 10 ** places : x).toFixed(min(max(places, 0), 20)));
};
const two = (h) => minus(h && abs(magnitude(h)) > 4 ? h.toExponential(1) : h.toPrecision(2).includes("e") ? String(+h.toPrecision(2)) : h.toPrecision(2));
const card = document.getElementById("try"), knobs = [...card.querySelectorAll("input")];
const chance = (z) => write(1 / (1 + exp(-z)), 0.01);
const say = (a) => {
  if (D.events) return ["chance " + chance(a.value), "95 % interval " + chance(a.value - a.half) + " to " + chance(a.value + a.half) + "."];
  if (!isFinite(a.half)) return [unit(write(a.value, 0), D.unit), "No interval: the rows of the fit leave no degrees of freedom."];
  return [unit(write(a.value, a.half) + " \u00b1 " + two(a.half), D.unit),
    "95 % interval of one observation; the law itself is known to \u00b1 " + unit(two(a.own), D.unit) + " there."];
};
const show = () => {
  const X = knobs.map((k) => +k.value), a = answer(X), [big, note] = say(a), scope = card.querySelector(".in");
  knobs.forEach((k, i) => { k.nextElementSibling.textContent = unit(minus(String(+X[i].toPrecision(3))), D.units[i]); });
  card.querySelector(".y").textContent = big;
  card.querySelector(".note").textContent = note;
  scope.textContent = a.inside ? "\u2713 inside the scope" : "\u00d7 outside the scope: the law promises nothing here";
  scope.className = a.inside ? "in good" : "in out";
};
knobs.forEach((k) => k.addEventListener("input", show));
card.hidden = false;
show();
window.alderLaw = answer;
})();
