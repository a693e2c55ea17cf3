// SPDX-License-Identifier: Apache-2.0
// Opens a report in Chromium: html.mjs MODULES CHROMIUM PAGE [CHECK]...
// A CHECK is "text=TEXT" (somewhere in what is visible when all is open), "groups=N" (causes in the page),
// "keyboard" (the strip and the copy button without a mouse), "timeline" and "missing" (a timeline, and one with its missing edge), "fast=MS" (opened and searched within).
// Fails on any error, any request besides the page itself, and what axe-core finds, in light and in dark.
// Nothing but code and timelines may scroll sideways on 400 pixels, and what is shown is printed open.
// SCREENSHOTS=FOLDER keeps pictures.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, executablePath, file, ...checks] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
const url = pathToFileURL(resolve(file)).href;

const picture = (page, name) => process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${basename(file, ".html")}-${name}.png`), fullPage: true });
async function narrowAndPrinted(page) {
	await page.setViewportSize({ width: 400, height: 800 });
	const width = await page.evaluate(() => document.documentElement.scrollWidth);
	if (width > 400) failures.push(`${width} pixels wide on a screen of 400`);
	await page.waitForTimeout(100);
	await picture(page, "narrow");
	await page.setViewportSize({ width: 794, height: 1100 });
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	const closed = await page.locator("details.group:visible:not([open])").count();
	if (closed) failures.push(`${closed} causes are printed closed`);
	await picture(page, "print");
	await page.emulateMedia({ media: "screen" });
	await page.setViewportSize({ width: 1200, height: 900 });
}

// At each width nothing but code scrolls sideways, and each row of a timeline has its name in sight.
async function widths(page, colorScheme) {
	for (const width of [480, 1000, 1600]) {
		await page.setViewportSize({ width, height: 900 });
		await page.reload();
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		if (wide > width) failures.push(`${wide} pixels wide on a screen of ${width}`);
		const hidden = await page.evaluate(() => [...document.querySelectorAll("svg text")].filter((text) => {
			const box = text.getBoundingClientRect();
			return box.width && (box.left < 0 || box.right > innerWidth + 1);
		}).length);
		if (hidden) failures.push(`${hidden} labels of a drawing are cut at ${width} pixels`);
		await picture(page, `${width}-${colorScheme}`);
	}
	await page.setViewportSize({ width: 1200, height: 900 });
	await page.reload();
}
// With the keyboard alone: a mark of the strip leads to its cause, whose fix is copied.
async function keyboard(page) {
	const focused = (what) => page.evaluate((selector) => document.activeElement.matches(selector), what);
	const tabTo = async (what) => {
		for (let i = 0; i < 60 && !(await focused(what)); i++) await page.keyboard.press("Tab");
		if (!(await focused(what))) failures.push(`the keyboard does not reach ${what}`);
	};
	await tabTo("#strip a");
	const to = await page.evaluate(() => document.activeElement.getAttribute("href"));
	await page.keyboard.press("Enter");
	if (!(await page.evaluate((id) => document.querySelector(id)?.open && document.querySelector(`${id} > summary`) === document.activeElement, to)))
		failures.push("a mark of the strip does not open its cause");
	await tabTo(".fix button");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement.textContent !== "Copy", null, { timeout: 2000 }).catch(() => failures.push("the copy button says nothing"));
	const copied = await page.evaluate(() => navigator.clipboard?.readText().catch(() => null));
	const code = await page.evaluate(() => [...document.activeElement.closest(".fix").querySelectorAll("pre")].map((pre) => pre.textContent).join("\n"));
	if (copied !== undefined && copied !== null && copied.trim() !== code.trim()) failures.push(`copied: ${copied}`);
	for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+Tab");
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const colorScheme of ["light", "dark"]) {
	const context = await browser.newContext({ colorScheme, bypassCSP: true, permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 1200, height: 900 } });
	const page = await context.newPage();
	page.on("pageerror", (error) => failures.push(`error: ${error.message}`));
	page.on("console", (message) => message.type() === "error" && failures.push(`console: ${message.text()}`));
	page.on("dialog", (dialog) => { failures.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
	page.on("request", (request) => request.url() !== url && failures.push(`a request: ${request.url().slice(0, 100)}`));
	const began = Date.now();
	await page.goto(url);
	if (await page.locator("#search").isVisible()) {
		await page.fill("#search", "no such finding anywhere");
		const none = await page.locator("details.group:visible").count();
		if (none) failures.push(`${none} causes are shown that the search does not fit`);
		await page.fill("#search", "");
	}
	const took = Date.now() - began;
	const count = await page.locator("details.group").count();
	if (count <= 100) await picture(page, colorScheme);
	if (count <= 100 && colorScheme === "light") await narrowAndPrinted(page);
	if (count && count <= 100) await widths(page, colorScheme);
	if (checks.includes("keyboard")) await keyboard(page);
	await page.evaluate(() => {
		for (const severity of ["error", "warning", "note"]) document.getElementById(`show-${severity}`).checked = true;
		document.getElementById("search").dispatchEvent(new Event("input"));
		[...document.querySelectorAll("details.group")].slice(0, 50).forEach((group) => { group.open = true; });
	});
	await page.waitForTimeout(100);
	const text = await page.evaluate(() => document.body.innerText);
	for (const check of checks) {
		const [what, value] = check.split(/=(.*)/s);
		if (what === "text" && !text.includes(value)) failures.push(`nothing says "${value}"`);
		if (what === "groups" && count !== Number(value)) failures.push(`${count} causes, not ${value}`);
		if (what === "timeline" && !(await page.locator("svg rect").count())) failures.push("no timeline");
		if (what === "missing" && !(await page.locator("svg path.missing").count())) failures.push("no missing edge in a timeline");
		if (what === "fast" && took > Number(value)) failures.push(`opened and searched in ${took} ms`);
	}
	if (count <= 100) {
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => globalThis.axe.run());
		for (const violation of violations)
			failures.push(`${colorScheme}: ${violation.id}: ${violation.help}: ${violation.nodes[0].html.slice(0, 120)} ${violation.nodes[0].failureSummary.slice(0, 200)}`);
	}
	if (colorScheme === "light") console.log(`${basename(file)}: ${count} causes, opened and searched in ${took} ms`);
	await context.close();
}
await browser.close();
for (const failure of new Set(failures)) console.log(failure);
process.exitCode = failures.length ? 1 : 0;
