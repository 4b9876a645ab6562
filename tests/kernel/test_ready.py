from alder.kernel import ready


def test_the_compiled_fitter_is_kept_on_disk() -> None:
    ready.ensure(lambda _: None)
    assert ready.is_cached()


def test_a_fitter_that_is_ready_reports_nothing() -> None:
    ready.ensure(lambda _: None)
    messages: list[str] = []
    ready.ensure(messages.append)
    assert messages == []


def test_the_self_test_finds_the_kernel_in_agreement_with_the_reference() -> None:
    assert ready.self_test() < 1e-14
