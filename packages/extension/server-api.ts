// Calls the server's API. Answers are validated, because the server may not be a Towpath server.

import type { Connection } from './connection.ts'

/** The message of a failure for the person. */
export class CallError extends Error {}

export interface ShortLink {
  id: number
  shortUrl: string
  destinationUrl: string
  clicks: number
}

const TIMEOUT_MS = 15_000
/** Ten links have at most some 200,000 characters. */
const ANSWER_MAX = 1_000_000

interface Call {
  method?: 'GET' | 'PUT'
  body?: object
}

async function send({ origin, apiKey }: Connection, path: string, { method = 'GET', body }: Call = {}) {
  const { host } = new URL(origin)
  let response: Response
  let text: string
  try {
    response = await fetch(origin + path, {
      method,
      body: body && JSON.stringify(body),
      headers: { Authorization: `Bearer ${apiKey}`, ...(body && { 'Content-Type': 'application/json' }) },
      // The key is sent only to this server, without cookies.
      redirect: 'manual',
      credentials: 'omit',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    text = await readText(response)
  } catch (error) {
    if (error instanceof CallError) throw error
    throw new CallError(`${host} cannot be reached. Check its address and your connection.`)
  }
  if (response.ok) return text
  const message = (parseJson(text) as { error?: unknown } | undefined)?.error
  if (typeof message !== 'string') throw new CallError(`${host} is not a Towpath server.`)
  if (response.status === 401) throw new CallError(`${host} does not accept the API key. Set another one.`)
  throw new CallError(`${host} says: ${message.slice(0, 300)}`)
}

/** @throws CallError for an answer that no Towpath server sends */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true })
    if (text.length <= ANSWER_MAX) continue
    await reader?.cancel()
    throw new CallError(`${new URL(response.url).host} is not a Towpath server: its answer is too long.`)
  }
  return text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function sendForData(connection: Connection, path: string, call?: Call): Promise<unknown> {
  const body = parseJson(await send(connection, path, call)) as { data?: unknown } | undefined
  if (typeof body === 'object' && body !== null && 'data' in body) return body.data
  throw new CallError(`${new URL(connection.origin).host} is not a Towpath server.`)
}

/** Only a web address becomes a link. */
function isShortLink(value: unknown): value is ShortLink {
  const link = (value ?? {}) as Partial<ShortLink>
  return (
    Number.isSafeInteger(link.id) &&
    [link.shortUrl, link.destinationUrl].every((url) => typeof url === 'string') &&
    /^https?:\/\//.test(link.shortUrl as string)
  )
}

/** @returns the name of the key's workspace @throws CallError */
export async function findWorkspaceName(connection: Connection): Promise<string> {
  const workspace = (await sendForData(connection, '/v1/workspace')) as { publicId?: unknown; name?: unknown }
  if (/^ws_/.test(String(workspace?.publicId)) && typeof workspace.name === 'string') return workspace.name
  throw new CallError(`${new URL(connection.origin).host} is not a Towpath server.`)
}

/** The same address always gets the same link. @throws CallError */
export async function shorten(connection: Connection, destinationUrl: string): Promise<ShortLink> {
  const link = await sendForData(connection, '/v1/links/upsert', { method: 'PUT', body: { destinationUrl } })
  if (isShortLink(link)) return link
  throw new CallError('The API key needs the scopes links:read and links:write.')
}

/** The ten newest links. @throws CallError */
export async function listRecentLinks(connection: Connection): Promise<ShortLink[]> {
  const links = await sendForData(connection, '/v1/links?limit=10')
  return Array.isArray(links) ? links.filter(isShortLink).slice(0, 10) : []
}

/** @returns an address for an image, in which no script runs @throws CallError */
export async function loadQr(connection: Connection, { id }: ShortLink): Promise<string> {
  return `data:image/svg+xml,${encodeURIComponent(await send(connection, `/v1/links/${id}/qr?format=svg`))}`
}
