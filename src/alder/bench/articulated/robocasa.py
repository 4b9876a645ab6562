"""RoboCasa's own drawer and door, where they are installed: what is missing, said exactly.

RoboCasa is not on the package index. It asks for MuJoCo 3.3.1 and NumPy 2.2.5, for robosuite's
master branch (its `load_model_on_init`), and for some 10 GB of assets that its own script fetches.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from alder.bench.articulated.scene import Kind, Scene
from alder.errors import MissingExtra

TASKS: Mapping[Kind, str] = MappingProxyType({"drawer": "OpenDrawer", "door": "OpenDoor"})
"""The tasks of RoboCasa that hold the joints of this benchmark."""

VERSIONS: Mapping[str, str] = MappingProxyType({"mujoco": "3.3.1", "numpy": "2.2.5"})
"""What RoboCasa asserts when it is imported."""

_ASSETS = ("fixtures", "objects", "textures")


def missing_robocasa(find: Callable[[str], Any] = find_spec) -> tuple[str, ...]:
    """Return a sentence for everything that RoboCasa lacks here; nothing where it can run."""
    return tuple(
        sentence
        for sentence in (*_versions(), _robosuite(find), *_package(find))
        if sentence is not None
    )


def robocasa_scene(kind: Kind) -> Scene:
    """Compose a task of RoboCasa; raise `MissingExtra` with all that is missing.

    The scene has the interface of our own: a model whose joint and handle are called art_joint and
    art_handle, and a Panda. What RoboCasa calls them differs by the kitchen that is drawn, so they
    are renamed in its XML.
    """
    missing = missing_robocasa()
    if missing:
        raise MissingExtra("RoboCasa cannot run here. " + " ".join(missing))
    suite = import_module("robosuite")
    import_module("robocasa")
    env = suite.make(
        TASKS[kind], robots="PandaOmron", has_renderer=False, has_offscreen_renderer=False,
        use_camera_obs=False, control_freq=20, seed=0,
    )  # fmt: skip
    env.reset()
    fixture = getattr(env, kind, None) or env.fxtr
    joint = next(iter(fixture.door_joint_names))
    handle = next(g for g in fixture.worldbody.iter("geom") if "handle" in g.get("name", ""))
    names = {joint: "art_joint", str(handle.get("name")): "art_handle"}
    xml: str = env.sim.model.get_xml()
    for old, new in names.items():
        xml = xml.replace(f'"{old}"', f'"{new}"')
    model = import_module("mujoco").MjModel.from_xml_string(xml)
    robot = env.robots[0]
    rest = tuple(float(q) for q in robot.init_qpos)
    fingers = tuple(float(q) for q in robot.gripper["right"].init_qpos)
    return Scene(kind, xml, model, rest, fingers)


def _versions() -> tuple[str | None, ...]:
    return tuple(_version(package, wanted) for package, wanted in VERSIONS.items())


def _version(package: str, wanted: str) -> str | None:
    try:
        found = version(package)
    except PackageNotFoundError:
        return f"{package} {wanted} is not installed."
    return None if found == wanted else f"It asserts {package} {wanted}; {found} is installed."


def _robosuite(find: Callable[[str], Any]) -> str | None:
    """Say whether robosuite is the branch that RoboCasa needs: it can load a model later."""
    advice = (
        "robosuite's master branch is needed: "
        "`pip install git+https://github.com/ARISE-Initiative/robosuite@master`."
    )
    if find("robosuite") is None:
        return f"robosuite is not installed; {advice}"
    base = import_module("robosuite.environments.base").MujocoEnv
    if "load_model_on_init" in inspect.signature(base.__init__).parameters:
        return None
    return f"The robosuite here has no `load_model_on_init`; {advice}"


def _package(find: Callable[[str], Any]) -> tuple[str | None, ...]:
    found = find("robocasa")
    if found is None:
        return (
            "The package robocasa is not installed; it is not on the package index: clone "
            "github.com/robocasa/robocasa and `pip install -e` it.",
        )
    assets = Path(found.origin or ".").parent / "models" / "assets"
    lacking = [name for name in _ASSETS if not any((assets / name).glob("*"))]
    if not lacking:
        return (None,)
    return (
        f"Its assets {', '.join(lacking)} are missing; "
        "`python -m robocasa.scripts.download_kitchen_assets` fetches about 10 GB.",
    )
