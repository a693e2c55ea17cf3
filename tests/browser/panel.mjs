// SPDX-License-Identifier: Apache-2.0
// Opens a timeline in the Performance panel of Chromium's DevTools: panel.mjs MODULES CHROMIUM TRACE [TRACK=SLICE]...
// Fails unless the panel shows each TRACK with a slice whose name begins with SLICE, and exactly the slices of the file, each on
// its track and with its times.  SCREENSHOTS=FOLDER keeps a picture.  The panel paints on a canvas, so what it shows is asked of its own model.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const [modules, executablePath, trace, ...wanted] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");

function fail(text) {
	console.log(`${trace}: ${text}`);
	process.exitCode = 1;
}

// Both run in the page.
async function findPanel() {
	const { TimelinePanel } = await import("devtools://devtools/bundled/panels/timeline/timeline.js");
	return TimelinePanel.TimelinePanel.instance();
}
// What it shows: {track, name, at, lasts} a slice, in nanoseconds; null until it has loaded the file.
function shown(panel) {
	if (!panel.hasActiveTrace())
		return null;
	const model = panel.getFlameChart().getMainDataProvider();
	const { groups, entryLevels, entryStartTimes, entryTotalTimes } = model.timelineData();
	const nanoseconds = (milliseconds) => Math.round(milliseconds * 1e6);
	return Array.from(entryLevels, (level, i) => ({
		track: groups.findLast((group) => group.startLevel <= level).name,
		name: model.entryTitle(i),
		at: nanoseconds(entryStartTimes[i]),
		lasts: nanoseconds(entryTotalTimes[i]),
	}));
}

// The slices that the file has, in the form that shown() gives them.
function written() {
	const events = JSON.parse(readFileSync(trace, "utf8")).traceEvents;
	const nanoseconds = (microseconds) => Math.round(microseconds * 1e3);
	const threads = events.filter((event) => event.ph === "M" && event.name === "thread_name");
	const tracks = new Map(threads.map((event) => [`${event.pid} ${event.tid}`, `${event.args.name} (${event.tid})`]));
	return events
		.filter((event) => event.ph === "X")
		.map((event) => ({
			track: tracks.get(`${event.pid} ${event.tid}`),
			name: event.name,
			at: nanoseconds(event.ts),
			lasts: nanoseconds(event.dur),
		}));
}

function compare(file, panel) {
	const seen = new Map();
	const count = (slice, step) => {
		const key = JSON.stringify(slice);
		seen.set(key, (seen.get(key) ?? 0) + step);
	};
	panel.forEach((slice) => count(slice, 1));
	file.forEach((slice) => count(slice, -1));
	for (const [slice, difference] of seen)
		if (difference !== 0)
			fail(`the panel shows ${difference > 0 ? "what is not in the file" : "nothing of"}: ${slice}`);
	for (const [track, name] of wanted.map((text) => text.split("=")))
		if (!panel.some((slice) => slice.track.startsWith(`${track} (`) && slice.name.startsWith(name)))
			fail(`the panel shows no slice ${name} on a track ${track}`);
}

// All groups open; the longest hazard, which is selected, with half of it before and after.
function show(panel) {
	const chart = panel.getFlameChart().mainFlameChart, model = panel.getFlameChart().getMainDataProvider();
	const { groups, entryStartTimes, entryTotalTimes } = model.timelineData();
	groups.forEach((group, i) => group.expanded || chart.toggleGroupExpand(i));
	const hazards = Array.from(entryStartTimes.keys()).filter((i) => model.entryTitle(i).startsWith("SW1"));
	if (!hazards.length)
		return null;
	const hazard = hazards.reduce((best, i) => (entryTotalTimes[i] > entryTotalTimes[best] ? i : best));
	const at = entryStartTimes[hazard], wide = entryTotalTimes[hazard];
	chart.setWindowTimes(at - wide / 2, at + 1.5 * wide, false);
	return hazard;
}
async function picture(page) {
	await page.setViewportSize({ width: 1500, height: 900 });
	const handle = await page.evaluateHandle(findPanel);
	const hazard = await page.evaluate(show, handle);
	await page.waitForTimeout(1500);
	if (hazard !== null) {
		const at = await page.evaluate(({ panel, hazard }) => {
			const chart = panel.getFlameChart().mainFlameChart;
			const { x, y } = chart.entryIndexToCoordinates(hazard);
			return { x: x + 4, y: y + 4 };
		}, { panel: handle, hazard });
		for (let i = 0; i < 2; i++) { // the first one may only close what DevTools explains
			await page.mouse.click(at.x, at.y);
			await page.waitForTimeout(700);
		}
		await page.mouse.move(at.x, 5);
		await page.waitForTimeout(1500);
	}
	await page.screenshot({ path: join(process.env.SCREENSHOTS, `${basename(trace, ".json")}-panel.png`) });
}

const browser = await chromium.launch({ executablePath });
try {
	const page = await browser.newPage();
	// The panel says nothing of a file that it can't parse: the error stays in its console.
	const refused = new Promise((_, reject) => page.on("pageerror", reject));
	refused.catch(() => {});
	await page.goto("devtools://devtools/bundled/devtools_app.html?panel=timeline");
	await page.waitForSelector("input[type=file]", { state: "attached" });
	await page.setInputFiles("input[type=file]", trace);
	const loaded = page.waitForFunction(shown, await page.evaluateHandle(findPanel)).then((handle) => handle.jsonValue());
	loaded.catch(() => {});
	const panel = await Promise.race([loaded, refused]);
	compare(written(), panel);
	if (process.env.SCREENSHOTS) await picture(page);
	if (!process.exitCode)
		console.log(`${panel.length} slices on ${new Set(panel.map((slice) => slice.track)).size} tracks`);
} catch (error) {
	fail(`not loaded: ${error.message}`);
} finally {
	await browser.close();
}
