// The TypeScript client 2.x, which can begin with either era.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { converse } from "./conversation.mjs";

const [address, mode, revision] = process.argv.slice(2);
const client = new Client(
  { name: "live-test", version: "1" },
  { versionNegotiation: mode === "pin" ? { mode: { pin: revision } } : { mode } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
await converse(client);
console.log(`${mode}: ok`);
