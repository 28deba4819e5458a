"""The page on which a person answers, in a browser: played by keys or clicks, kept, handed out, scored."""

import json

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from helpers.browser import RATIOS, look
from helpers.submissions import only_boards
from helpers.text_board import BOARD, right_replies, text_contents
from sraven import SRAVEN
from sraven.certificates.ambiguity import list_answers
from sraven.text import Questions, parse
from sraven.text.mixtures import of_no_board, read_text_board
from sraven.text.play import WORDS, make_play


@pytest.fixture
def play(quiet, tmp_path):
    """Write a page, open it as a file and forget what was played before."""

    def open_it(sets, practice=False, **options):
        look(quiet, 1280)
        path, blank = tmp_path / "page.html", tmp_path / "blank.html"
        path.write_text(make_play(of_no_board("some-puzzles", *sets), practice, **options))
        blank.touch()
        quiet.get(blank.as_uri())  # a page of puzzles keeps its own as it closes
        quiet.execute_script("localStorage.clear()")
        quiet.get(path.as_uri())
        downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
        quiet.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
        return quiet

    return open_it


def press(driver, *keys):
    ActionChains(driver).send_keys(*keys).perform()


def go_to(driver, question):
    press_in(driver, "number", Keys.CONTROL, "a", Keys.NULL, str(question), Keys.ENTER)


def press_in(driver, name, *keys):
    driver.find_element(By.ID, name).send_keys(*keys)


def text_of(driver, name):
    return driver.find_element(By.ID, name).text


def answer(driver, numbers):
    """Write numbers into the missing panel, and reply."""
    for cell, number in zip(driver.find_elements(By.CSS_SELECTOR, "#matrix input"), numbers, strict=False):
        cell.send_keys(Keys.CONTROL, "a", Keys.NULL, number)
    driver.find_element(By.ID, "reply").click()


def panel(driver):
    """Return what stands in the cells of the missing panel."""
    cells = driver.find_elements(By.CSS_SELECTOR, "#matrix input")
    return [cell.get_attribute("value") for cell in cells]


def shown(driver):
    """Return what the eight panels show."""
    panels = driver.find_elements(By.CSS_SELECTOR, "#matrix [role=img]")
    return [[int(cell.text) for cell in each.find_elements(By.CLASS_NAME, "cell")] for each in panels]


def test_a_board_is_played_and_scored(play, run, tmp_path):
    with only_boards(tmp_path / "boards", text_contents()):
        board, wording = read_text_board(BOARD)
        questions, contexts = wording.questions("told-0-shot"), board.sample("ladder", 0, 44).context
        driver = play(questions)
        right = [reply.partition("[")[2].strip("]").split() for reply in right_replies()]
        assert text_of(driver, "count") == "0 of 44" and shown(driver) == contexts[0, :, :1].tolist()
        answer(driver, right[0])
        assert text_of(driver, "status") == f"Puzzle 1: {right[0][0]} is kept."
        driver.find_element(By.ID, "skip").click()
        answer(driver, ["0"])  # the third one, wrong or not
        go_to(driver, 12)
        assert text_of(driver, "which") == "Puzzle 12: 2 numbers, 0 to 6"
        assert shown(driver) == contexts[11, :, :2].tolist()
        answer(driver, right[11][:1])  # one number is missing
        assert text_of(driver, "which").startswith("Puzzle 12")
        answer(driver, right[11])
        driver.find_element(By.CSS_SELECTOR, "#progress .download").click()
        path = tmp_path / "replies-some-puzzles.jsonl"
        WebDriverWait(driver, 20).until(lambda driver: path.exists() and path.read_text())
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        first, second = (each.name for each in questions[:2])
        assert [line["id"] for line in lines] == [f"{first}_0", f"{first}_2", f"{second}_0"]
        assert [parse(line["completion"], 2, 7) for line in lines][2] == tuple(map(int, right[11]))
        assert all(line["seconds"] >= 0 for line in lines)
        code, out, err = run("text", "score", path, "--json")
        assert code == 0, err
        scores = json.loads(out)["scores"][0]["levels"]
        hits = [round(score["accuracy"]["value"] * score["n"]) for score in scores]
        assert hits == [1 + (right[2] == ["0"]), 1] and [score["missing"] for score in scores] == [9, 10]


def test_replies_stay_until_they_are_deleted(play):
    driver = play([Questions(SRAVEN(M=2, K=16, answers="unique"), "test", 4)])
    answer(driver, ["15", "16"])  # 16 isn't a number of the puzzle
    assert text_of(driver, "count") == "0 of 4"
    answer(driver, ["15", "2"])
    # A busy browser hands on what it keeps a moment later.
    WebDriverWait(driver, 20).until(lambda driver: driver.refresh() or text_of(driver, "count") == "1 of 4")
    assert text_of(driver, "which").startswith("Puzzle 2: ")
    go_to(driver, 1)
    assert panel(driver) == ["15", "2"]
    driver.find_element(By.ID, "reset").click()
    driver.switch_to.alert.accept()
    assert text_of(driver, "count") == "0 of 4" and panel(driver) == ["", ""]


TOP = "return document.getElementById('puzzle').getBoundingClientRect().top"


def test_the_end_says_what_came_of_it_and_hands_it_out(play, tmp_path):
    sets = [Questions(SRAVEN(M=M, K=8, holdout=0, answers="unique"), "test", 2) for M in (1, 2)]
    driver = play(sets, result=True, models={"Babbler": 0.25})
    panels = [panel for each in sets for panel in each.take(range(2)).target.tolist()]
    panels[3][0] = (panels[3][0] + 1) % 8
    for number, reply in enumerate(panels):
        driver.execute_script("scrollTo(0, 500)")
        answer(driver, map(str, reply))
        if number < 3:
            assert 0 <= driver.execute_script(TOP) < 300
    WebDriverWait(driver, 20).until(lambda driver: text_of(driver, "result"))
    assert text_of(driver, "result").startswith("3 of 4 puzzles are right, in ")
    assert text_of(driver, "results").splitlines() == [
        "1 number, 0 to 7: 2 of 2",
        "2 numbers, 0 to 7: 1 of 2",
    ]
    yardstick = "0.3 of all 4 right on average; a perfect reasoner, 4. The language model Babbler: 1."
    assert yardstick in text_of(driver, "yardstick")
    assert text_of(driver, "wrong") == "✗ Puzzle 4"
    assert "Thank you" in text_of(driver, "end-title")
    press(driver, Keys.ENTER)  # the focus is on Download
    path = tmp_path / "replies-some-puzzles.jsonl"
    WebDriverWait(driver, 20).until(lambda driver: path.exists() and path.read_text().count("\n") == 4)
    source = driver.page_source
    assert not any(answer in source for each in sets for answer in each.answers(range(2)))
    press(driver, Keys.TAB, Keys.ENTER)
    assert text_of(driver, "which").startswith("Puzzle 1: ") and panel(driver) == [str(panels[0][0])]


WIDTHS = (
    "return Array.from(document.querySelectorAll('#matrix input'), (e) => e.getBoundingClientRect().width)"
)


def test_a_digit_leads_to_the_next_field_and_fields_can_be_touched(play):
    driver = play([Questions(SRAVEN(M=4), "test", 2), Questions(SRAVEN(M=2, K=16), "test", 1)])
    press(driver, "3461")
    assert panel(driver) == list("3461")
    press(driver, Keys.ENTER)  # the focus is on Reply
    assert text_of(driver, "which").startswith("Puzzle 2: ")
    look(driver, 390)
    assert min(driver.execute_script(WIDTHS)) >= 24
    assert driver.find_element(By.CLASS_NAME, "to-rules").is_displayed()
    go_to(driver, 3)
    press(driver, "1", "23")  # of 16 symbols one digit may be the first of two
    assert panel(driver) == ["12", "3"]
    modes = {
        cell.get_attribute("inputMode") for cell in driver.find_elements(By.CSS_SELECTOR, "#matrix input")
    }
    assert modes == {"numeric"}


def test_practice_shows_what_is_behind(play):
    questions = Questions(SRAVEN(M=3, K=5), "train", 12)
    driver = play([questions], practice=True)
    batch = questions.take(range(12))
    answers = [list_answers(context, questions.task.K).tolist() for context in batch.context]
    single = [row for row in range(12) if len(answers[row]) == 1][:2]
    several = next(row for row in range(12) if len(answers[row]) > 1)
    other = next(each for each in answers[several] if each != batch.target[several].tolist())
    first, second = (answers[row][0] for row in single)
    cases = [
        (single[0], first, "Right."),
        (single[1], [(number + 1) % 5 for number in second], f"Not quite. The answer is {second[0]}"),
        (several, other, "Right: your panel fits."),
    ]
    for row, reply, verdict in cases:
        go_to(driver, row + 1)
        answer(driver, map(str, reply))
        assert text_of(driver, "status").startswith(verdict)
        rules = {WORDS[questions.task.rules[rule].name] for rule in batch.rules[row]}
        assert all(rule in text_of(driver, "solution") for rule in rules)
        assert len(driver.find_elements(By.CSS_SELECTOR, "#matrix .letter")) == 27
        listed = driver.find_elements(By.CSS_SELECTOR, "#solution li")
        assert len(listed) == (len(answers[row]) if row == several else 0)
        press(driver, "3")
        assert panel(driver) == list(map(str, reply))  # nothing is written any more
        press(driver, Keys.ENTER)
        assert not text_of(driver, "status") and panel(driver) == [""] * 3
    assert text_of(driver, "count") == "3 of 12" and not driver.find_elements(By.CLASS_NAME, "download")


CLIPPED = """
return Array.from(document.querySelectorAll('.cell')).filter((e) => e.scrollWidth > e.clientWidth + 1).length
"""


def test_everything_fits_and_can_be_read(play):
    hard = [Questions(SRAVEN(M=M, K=16, answers="unique"), "train", 2) for M in (8, 5)]
    practice, long = [Questions(SRAVEN(), "train", 2)], [Questions(SRAVEN(M=8, K=256, holdout=0), "test", 2)]
    for sets, reply in ((hard[:1], "2" * 7), (hard[1:], "22"), (practice, "2222"), (long, ("255", "100"))):
        driver = play(sets, sets is practice)
        answer(driver, reply)
        for width in (390, 1280):
            look(driver, width)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            assert driver.execute_script(CLIPPED) == 0
        for scheme in ("light", "dark"):
            look(driver, 1280, scheme)
            ratios = driver.execute_script(RATIOS)
            assert len(ratios) > 40 and min(ratios)[0] >= 4.5, (scheme, min(ratios))
