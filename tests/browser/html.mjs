// SPDX-License-Identifier: Apache-2.0
// Opens a report in Chromium: html.mjs MODULES CHROMIUM PAGE [CHECK]...
// A CHECK is "text=TEXT" (somewhere in what is visible when all is open), "groups=N" (causes in the page),
// "timeline" and "missing" (a timeline, and one with its missing edge), "fast=MS" (opened and searched within).
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

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const colorScheme of ["light", "dark"]) {
	const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width: 1200, height: 900 } });
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
