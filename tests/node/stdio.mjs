// The TypeScript clients over standard streams, with what a configuration file says of the server.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { converse } from "./conversation.mjs";

const [configuration, mode] = process.argv.slice(2);
const server = { ...JSON.parse(configuration), env: process.env, stderr: "ignore" };
const info = { name: "live-test", version: "1" };
const [client, transport] =
  mode === "sdk"
    ? [new OldClient(info), new OldTransport(server)]
    : [new Client(info, { versionNegotiation: { mode } }), new StdioClientTransport(server)];
await client.connect(transport);
await converse(client);
console.log(`${mode}: ok`);
