// Serves MCP on standard input and output, and calls the API of a server over HTTP.

import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { VERSION } from '../../config/version.ts'
import { type ApiDocument, type ApiTool, buildTools } from '../../features/mcp/build-tools.ts'
import { createMcpServer, explainMissingScopes, loadMcpSdk } from '../../features/mcp/create-mcp-server.ts'
import type { ToolRequest } from '../../features/mcp/tool-request.ts'
import type { KeyScope } from '../../http/key-scope.ts'
import { CommandError } from '../command.ts'

interface McpConnection {
  /** The server's address, such as `https://go.example`. */
  origin: string
  key: string
  /** `--write`: the tools that change data are offered to a key with full access. */
  mayWrite: boolean
}

/** A question about clicks may take 30 seconds. */
const TIMEOUT_MS = 60_000
/** A longer message is refused as a whole, and with it the connection. */
const MESSAGE_MAX = 64 * 1024 * 1024

/** Resolves when the assistant has closed its end. @throws CommandError where the server or the key is wrong */
export async function serveMcp(connection: McpConnection): Promise<void> {
  const [sdk, document, scopes] = await Promise.all([
    loadMcpSdk(),
    readDocument(connection),
    readScopes(connection),
  ])
  const tools = buildTools(document)
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MESSAGE_MAX })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  process.stdin.once('close', resolve)
  process.stdin.once('end', resolve)
  const handle = serveStdio(
    () =>
      createMcpServer({
        sdk,
        tools,
        version: VERSION,
        findRefusal: (tool) =>
          explainReadOnly(tool, scopes, connection) ?? explainMissingScopes(tool, scopes),
        callApi: (request) => callServer(connection, request),
      }),
    { transport, onerror: (error) => process.stderr.write(`${error.message}\n`) },
  )
  await closed
  await handle.close()
}

/** A key with full access has no chosen scopes, so it also needs `--write`. */
function explainReadOnly(tool: ApiTool, scopes: readonly KeyScope[], { mayWrite }: McpConnection) {
  if (tool.writes === undefined || mayWrite || !scopes.includes('*')) return undefined
  return `${tool.name} changes data, and this connection is read-only. The user can start "towpath mcp" with --write.`
}

async function callServer({ origin, key }: McpConnection, { method, path, body }: ToolRequest) {
  try {
    return await fetch(origin + path, {
      method,
      body,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      // The key is for this server alone.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return Response.json({ error: `${origin} cannot be reached: ${reason}` }, { status: 503 })
  }
}

async function readJson(connection: McpConnection, path: string): Promise<unknown> {
  const answer = await callServer(connection, { method: 'GET', path })
  const body = (await answer.json().catch(() => undefined)) as { error?: unknown } | undefined
  if (answer.ok && body !== undefined) return body
  if (typeof body?.error === 'string') throw new CommandError(`${body.error} (HTTP ${answer.status})`)
  throw new CommandError(
    `${connection.origin} is not a Towpath server: ${path} answered HTTP ${answer.status}.`,
  )
}

async function readDocument(connection: McpConnection): Promise<ApiDocument> {
  const document = (await readJson(connection, '/v1/openapi.json')) as Partial<ApiDocument>
  if (document.paths?.['/v1/links'] && document.components?.schemas) return document as ApiDocument
  throw new CommandError(`${connection.origin} is not a Towpath server: its API has no links.`)
}

async function readScopes(connection: McpConnection): Promise<KeyScope[]> {
  const { data } = (await readJson(connection, '/v1/workspace')) as {
    data?: { keyScopes?: KeyScope[] | null }
  }
  // A server of an older version does not report scopes. Its API refuses forbidden calls.
  return data?.keyScopes ?? ['*']
}
