"""mbros run --plot: a picture beside the summary, or refused before anything is simulated."""
from optional import needs
from shell import one_paragraph

pytestmark = needs("matplotlib", "it draws")


def test_a_picture_beside_the_csv(command):
    done = command("run", "arm7", "--duration", "0.5", "--every", "5", "--plot", "out.png", "--csv", "out.csv")
    assert done.returncode == 0, done.stderr
    assert (command.folder / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "recorded 101 rows of 25 columns in out.csv" in done.stdout and "plotted  101 rows in out.png" in done.stdout
    assert len((command.folder / "out.csv").read_text().splitlines()) == 102


def test_a_picture_of_the_real_time_loop(command):
    done = command("run", "pendulum", "--duration", "0.2", "--realtime", "--plot", "out.svg")
    assert done.returncode == 0, done.stderr
    assert "plotted  201 rows in out.svg" in done.stdout and (command.folder / "out.svg").read_text().startswith("<?xml")


def test_a_fault_is_drawn_up_to_where_it_happened(command):
    done = command("run", "double_pendulum", "--v", "elbow=300", "--dt", "0.5", "--duration", "1000", "--plot", "out.svg")
    assert done.returncode == 1 and "fault" in done.stdout and (command.folder / "out.svg").exists()


def test_a_path_that_cannot_be_is_refused_at_once(command):
    for path, part in (("nowhere/out.png", "there is no folder"), ("out.docx", "expected a file that ends in .png, .svg or .pdf")):
        done = command("run", "arm7", "--duration", "1e9", "--plot", path, "--csv", "out.csv", timeout=240)
        assert done.returncode == 2 and part in done.stderr and one_paragraph(done.stderr)
        assert not (command.folder / "out.csv").exists()
