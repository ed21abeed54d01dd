// The TypeScript SDK 1.x, which knows only the handshake, against a running server.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address] = process.argv.slice(2);
const client = new Client({ name: "live-test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
assert.equal(client.getServerVersion().name, "task-tracker");
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["tasks", "help"]);
const refused = await client.callTool({ name: "tasks", arguments: { action: "lst" } });
assert.equal(refused.isError, true);
const action = JSON.parse(refused.content[0].text).did_you_mean.lst;
const answer = await client.callTool({ name: "tasks", arguments: { action } });
assert.equal(answer.isError, false);
assert.ok(JSON.parse(answer.content[0].text).tasks.length > 0);
await client.close();
console.log("legacy SDK: ok");
