"""The page in a browser (Debian's Chromium): login, question, report, fallback, failure, Stop, and reading it all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, async_playwright, expect

from tests.e2e.client import ChatClient
from tests.e2e.conftest import PASSWORD
from tests.e2e.server import Server
from tests.e2e.waiting import FIRST_CALL_SECONDS
from tests.provider.replies import Reply, Request, as_json, call, calls, error, hang, text
from tests.provider.script import PLAN, analysis, diagnose, draft
from tests.provider.server import Provider

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
QUESTION = "订单支付超时，帮我排查"
RESULT_MS = FIRST_CALL_SECONDS * 1000
HOSTILE = "<img src=x onerror=alert(1)><b>bold</b> 84"


@pytest.fixture
async def context(server: Server, provider: Provider) -> AsyncIterator[BrowserContext]:
    """A browser of one's own that speaks English and says when a script or a policy fails; the model is reset."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--no-first-run"])
        made = await browser.new_context(base_url=server.url, locale="en-US", color_scheme="light")
        complaints: list[str] = []
        made.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        made.on("weberror", lambda raised: complaints.append(str(raised.error)))
        made.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        yield made
        await browser.close()
        assert complaints == []


@pytest.fixture
async def page(context: BrowserContext) -> Page:
    """The page of the owner, logged in."""
    page = await context.new_page()
    await log_in(page, PASSWORD)
    await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()  # the scripts are there
    return page


async def log_in(page: Page, password: str) -> None:
    await page.goto("/")
    await page.get_by_label("Username").fill("owner")
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("main").get_by_role("button", name="Log in").click()


async def ask(page: Page, question: str = QUESTION) -> None:
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.get_by_role("button", name="Ask", exact=True).click()


async def ask_for_report(page: Page, question: str = QUESTION) -> None:
    await ask(page, question)
    await expect(page.locator("[data-result=report]")).to_be_visible(timeout=RESULT_MS)


def with_draft(made: dict[str, Any]) -> Any:
    """An agent that calls its tools and then says this."""

    def answer(request: Request) -> Reply:
        return as_json(made) if request.tool_results() else diagnose(request)

    return answer


def runs_of(owner: ChatClient, page: Page) -> list[dict[str, Any]]:
    """What the API tells of the session that the page shows."""
    session_id = page.url.rstrip("/").rsplit("/", 1)[-1]
    found: list[dict[str, Any]] = owner.http.get(f"/api/sessions/{session_id}/runs").json()["results"]
    return found


async def test_a_wrong_password_is_refused_and_the_right_one_leads_to_the_question(context: BrowserContext) -> None:
    page = await context.new_page()
    await log_in(page, "not the password")
    await expect(page.get_by_role("alert")).to_contain_text("not right")
    await log_in(page, PASSWORD)
    await expect(page.get_by_role("heading", name="What is going wrong?")).to_be_visible()


async def test_a_question_shows_its_plan_and_tools_and_then_the_report_in_its_order(page: Page) -> None:
    await ask_for_report(page)
    headings = await page.locator("[data-result=report] h4").all_inner_texts()
    assert headings == [
        "Conclusion",
        "Supporting analysis",
        "Action plan",
        "Long-term recommendations",
        "Scope and limitations",
        "References",
    ]
    await page.locator(".progress > summary").click()
    await expect(page.locator(".plan li[data-state=done]")).to_have_count(3)
    tools = page.locator(".activity li[data-code=TOOL_FINISHED][data-state=done]")
    await expect(tools).to_have_count(3)
    await expect(tools.nth(1)).to_contain_text("query_logs (APPLICATION, last 30 min)")
    await expect(page.locator(".sessions [aria-current=page]")).to_contain_text(QUESTION)
    await page.reload()
    assert await page.locator("[data-result=report] h4").all_inner_texts() == headings


async def test_while_it_runs_the_open_step_and_the_tool_are_shown(page: Page, provider: Provider) -> None:
    def wait_in_the_report(request: Request) -> Reply:
        return hang() if request.tool_results() else diagnose(request)

    provider.always("diagnosis", wait_in_the_report)
    await ask(page)
    await expect(page.locator(".activity li[data-state=running]")).to_contain_text("Writing", timeout=RESULT_MS)
    await expect(page.locator(".plan li[data-state=active]")).to_have_count(1)
    await expect(page.locator(".progress summary .elapsed")).to_contain_text("s")
    await expect(page.locator("[data-live]")).not_to_be_empty()
    await page.get_by_role("button", name="Stop").click()


async def test_a_tool_call_that_failed_is_marked_and_ticks_no_step(page: Page, provider: Provider) -> None:
    def ask_for_a_foreign_table(request: Request) -> Reply:
        if request.tool_results():
            return hang()
        return calls([call("q1", "query_mysql", {"data_source": "order_readonly", "sql": "SELECT x FROM y"})], PLAN)

    provider.always("diagnosis", ask_for_a_foreign_table)
    await ask(page)
    line = page.locator(".activity li[data-code=TOOL_FINISHED]")
    await expect(line).to_have_attribute("data-state", "failed", timeout=RESULT_MS)
    await expect(line).to_contain_text("the call was refused")
    await expect(page.locator(".plan li[data-state=done]")).to_have_count(0)
    await page.get_by_role("button", name="Stop").click()


async def test_references_and_analyses_lead_to_each_other(page: Page) -> None:
    await ask_for_report(page)
    await page.locator(".analysis > li").nth(1).get_by_role("link", name="Reference R2").click()
    reference = page.locator("details.reference", has=page.locator(".ref-id", has_text="R2"))
    await expect(reference).to_have_attribute("open", "")
    await expect(reference.get_by_role("columnheader", name="Example")).to_be_visible()
    await expect(reference.locator(".badge.mock")).to_be_visible()
    await reference.get_by_role("link", name="Analysis 2").click()
    await expect(page.locator(".analysis > li").nth(1)).to_be_focused()


async def test_each_kind_of_reference_opens_to_what_the_tool_returned(page: Page) -> None:
    await ask_for_report(page)
    references = page.locator("details.reference")
    for place in range(3):
        await references.nth(place).locator("> summary").click()
    await expect(references.nth(0).locator("blockquote").first).not_to_be_empty()
    await expect(references.nth(1).locator(".table-wrap tbody tr").first).to_be_visible()
    await expect(references.nth(2).get_by_role("columnheader", name="payment_status")).to_be_visible()
    await expect(references.nth(2).get_by_role("cell", name="PAID")).to_be_visible()


async def test_text_of_a_model_stays_text(page: Page, provider: Provider) -> None:
    made = draft([analysis("a1", "call_logs", HOSTILE)], HOSTILE)
    made["action_plan"] = [{"action": HOSTILE, "based_on_analysis_ids": ["a1"], "requires_human_confirmation": True}]
    provider.always("diagnosis", with_draft(made))
    await ask_for_report(page, f"<script>alert(2)</script> {QUESTION}")
    await expect(page.locator("[data-part=conclusion]")).to_have_text(HOSTILE)
    await expect(page.locator(".analysis .words")).to_have_text(HOSTILE)
    await page.reload()
    await expect(page.locator("[data-part=conclusion]")).to_have_text(HOSTILE)
    await expect(page.locator(".question h2")).to_have_text(f"<script>alert(2)</script> {QUESTION}")
    assert await page.locator("main img, main b").count() == 0


async def test_an_action_that_needs_confirmation_carries_a_mark(page: Page, provider: Provider) -> None:
    made = draft([analysis("a1", "call_logs")])
    made["action_plan"] = [
        {"action": "重启 order-service", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": True},
        {"action": "查看日志", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": False},
    ]
    provider.always("diagnosis", with_draft(made))
    await ask_for_report(page)
    actions = page.locator("[data-part=action_plan] > li")
    await expect(actions.nth(0).get_by_text("Needs human confirmation")).to_be_visible()
    await expect(actions.nth(1).get_by_text("Needs human confirmation")).to_be_hidden()


async def test_a_fallback_looks_unlike_a_report_and_names_its_sources(page: Page, provider: Provider) -> None:
    provider.always("semantic_guard", as_json({"verdict": "UNSUPPORTED", "reason": "PLANTED-REASON"}))
    await ask(page)
    fallback = page.locator("[data-result=fallback]")
    await expect(fallback).to_be_visible(timeout=RESULT_MS)
    await expect(page.locator("[data-result=report]")).to_have_count(0)
    await expect(fallback.locator(".source-list li")).to_have_count(3)
    await expect(fallback.locator(".badge.mock:visible")).to_have_count(1)
    assert "PLANTED-REASON" not in await page.content()


async def test_a_failure_says_why_and_offers_to_ask_again(page: Page, provider: Provider) -> None:
    provider.always("diagnosis", error(500))
    await ask(page)
    failure = page.get_by_role("alert")
    await expect(failure).to_contain_text("The model is not available now.", timeout=RESULT_MS)
    assert "PLANTED" not in await page.content()
    await failure.get_by_role("button", name="Ask again").click()
    await expect(page.get_by_role("textbox", name="Your question")).to_have_value(QUESTION)


async def test_stop_closes_the_stream_and_the_run_is_cancelled(
    page: Page, provider: Provider, owner: ChatClient
) -> None:
    provider.always("diagnosis", hang())
    await ask(page)
    seen = await asyncio.to_thread(provider.wait_for, "diagnosis", FIRST_CALL_SECONDS)
    await page.get_by_role("button", name="Stop").click()
    await expect(page.locator("[data-result=stopped]")).to_be_visible()
    await asyncio.to_thread(provider.wait_closed, seen)
    await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    for _ in range(200):
        if (status := runs_of(owner, page)[0]["status"]) != "RUNNING":
            break
        await asyncio.sleep(0.05)
    assert status == "CANCELLED"


async def test_a_question_that_is_refused_says_so(page: Page, context: BrowserContext, provider: Provider) -> None:
    await ask_for_report(page)
    provider.always("diagnosis", hang())
    await ask(page, "and again?")
    await asyncio.to_thread(provider.wait_for, "diagnosis", FIRST_CALL_SECONDS)
    second = await context.new_page()
    await second.goto(page.url)
    await expect(second.locator("[data-result=running]")).to_be_visible()
    await second.locator("[data-result=running]").get_by_role("button", name="Stop").click()
    await expect(page.locator("[data-result=failure]")).to_contain_text("The run was stopped.")


async def test_an_answer_from_documents_names_them(page: Page, provider: Provider) -> None:
    provider.always("intent_router", text("KNOWLEDGE_QUERY"))
    await ask(page, "支付超时怎么排查？")
    answer = page.locator("[data-result=knowledge]")
    await expect(answer).to_contain_text("见文档。", timeout=RESULT_MS)
    await answer.locator("details.reference").first.locator("> summary").click()
    await expect(answer.locator("blockquote").first).not_to_be_empty()


async def test_the_keyboard_is_enough(page: Page) -> None:
    await page.get_by_role("textbox", name="Your question").focus()
    await page.keyboard.type(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.locator("[data-result=report]")).to_be_visible(timeout=RESULT_MS)
    await page.locator(".analysis > li").first.get_by_role("link").first.focus()
    await page.keyboard.press("Enter")
    focused = page.locator("details.reference[open] > summary:focus")
    await expect(focused).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.locator("details.reference[open]")).to_have_count(0)


async def test_the_report_is_copied_as_markdown(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ask_for_report(page)
    await page.get_by_role("button", name="Copy as Markdown").click()
    await expect(page.get_by_text("Copied")).to_be_visible()
    copied: str = await page.evaluate("navigator.clipboard.readText()")
    titles = [line for line in copied.splitlines() if line.startswith("#")]
    assert titles[:3] == [f"# {QUESTION}", "## Conclusion", "## Supporting analysis"]
    assert "1. 工具返回了相关证据 [R1]" in copied
    assert "**MOCK: simulated data**" in copied


async def test_an_opinion_is_kept(page: Page, owner: ChatClient) -> None:
    await ask_for_report(page)
    await page.get_by_role("button", name="Not helpful").click()
    await expect(page.get_by_text("Thank you")).to_be_visible()
    assert runs_of(owner, page)[0]["feedback"] == "down"
    await page.reload()
    await expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "true")


async def test_the_language_changes_in_place(page: Page) -> None:
    await ask_for_report(page)
    address = page.url
    await page.get_by_role("button", name="中文").click()
    await expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    assert page.url == address
    headings = await page.locator("[data-result=report] h4").all_inner_texts()
    assert headings == ["结论", "分析支撑", "行动计划", "长期建议", "诊断范围与限制", "引用"]


async def test_dark_stays_dark(page: Page) -> None:
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.get_by_role("button", name="Light or dark").click()
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != light


async def test_nothing_is_cut_off_at_360_pixels(page: Page) -> None:
    await page.set_viewport_size({"width": 360, "height": 720})
    await ask_for_report(page)
    for place in range(3):
        await page.locator("details.reference > summary").nth(place).click()
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    await page.get_by_role("button", name="Sessions").click()
    await expect(page.get_by_role("link", name="New session")).to_be_visible()


async def test_print_shows_this_run_alone_with_its_references_open(page: Page) -> None:
    await ask_for_report(page)
    await page.evaluate("window.print = () => undefined")
    await page.get_by_role("button", name="Print").click()
    await page.emulate_media(media="print")
    await expect(page.locator("details.reference[open]")).to_have_count(3)
    await expect(page.locator(".composer")).to_be_hidden()
    await expect(page.locator(".sidebar")).to_be_hidden()
    await expect(page.locator("[data-result=report]")).to_be_visible()


async def test_a_real_model_is_not_called_the_demo_model(page: Page) -> None:
    await ask_for_report(page)
    await expect(page.get_by_text("demo model")).to_have_count(0)
