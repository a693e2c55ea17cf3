// SPDX-License-Identifier: Apache-2.0
// Runs SQL on a trace with Perfetto's trace processor (wasm): perfetto.mjs ASSETS TRACE SQL...
// Prints one JSON array of rows a query, one a line.  ASSETS holds trace_processor.wasm and the glue that Perfetto's user
// interface runs in a web worker: what a worker would offer is made up here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [assets, trace, ...queries] = process.argv.slice(2);
const { EngineBase } = await import(pathToFileURL(join(assets, "engine.mjs")).href);

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
globalThis.location = { href: pathToFileURL(assets).href + "/" };
globalThis.traceProcessorBytes = new Uint8Array(readFileSync(join(assets, "trace_processor.wasm")));

function exchange(text, from, to) {
	if (!text.includes(from))
		throw new Error(`the glue has no "${from}"`);
	return text.replace(from, to);
}
let glue = readFileSync(join(assets, "engine_bundle.node.js"), "utf8");
glue = exchange(glue, "this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;");
glue = exchange(glue, "locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.traceProcessorBytes,");
glue = exchange(glue, "new wasm_bridge_1.WasmBridge();", "globalThis.bridge = new wasm_bridge_1.WasmBridge();");
vm.runInThisContext(glue, { filename: "engine_bundle.js" });
while (!globalThis.bridge.reqBufferAddr)
	await new Promise((done) => setImmediate(done));

const channel = new MessageChannel();
globalThis.bridge.initialize(channel.port1);
class Engine extends EngineBase {
	mode = "WASM";
	id = "test";
	constructor(port) {
		super();
		this.port = port;
		port.onmessage = (message) => this.onRpcResponseBytes(message.data);
	}
	rpcSendRequestBytes(data) {
		this.port.postMessage(data);
	}
}
const engine = new Engine(channel.port2);
const warn = console.warn;
console.warn = (text, ...rest) => String(text).includes("Unexpected QueryResult field") || warn(text, ...rest);

const part = 32 * 1024 * 1024;
const bytes = new Uint8Array(readFileSync(trace));
for (let at = 0; at < bytes.length; at += part)
	await engine.parse(bytes.subarray(at, at + part));
await engine.notifyEof();
for (const sql of queries) {
	const result = await engine.query(sql);
	if (result.error())
		throw new Error(result.error());
	const rows = [];
	for (const row = result.iter({}); row.valid(); row.next())
		rows.push(result.columns().map((column) => row.get(column)));
	// Waits: what is still on its way when the process exits would be lost.
	const text = JSON.stringify(rows, (key, value) => (typeof value === "bigint" ? Number(value) : value));
	await new Promise((done) => process.stdout.write(text + "\n", done));
}
process.exit(0);
