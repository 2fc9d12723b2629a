// The server and the key that the extension uses: kept in the extension's storage, which web pages cannot read.

import { browserApi } from './browser-api.ts'

export interface Connection {
  /** For example `https://go.example`. */
  origin: string
  apiKey: string
}

const NAME = 'connection'

export async function readConnection(): Promise<Connection | undefined> {
  const { [NAME]: stored } = await browserApi.storage.local.get(NAME)
  const { origin, apiKey } = (stored ?? {}) as Partial<Connection>
  return typeof origin === 'string' && typeof apiKey === 'string' ? { origin, apiKey } : undefined
}

export const saveConnection = (connection: Connection) => browserApi.storage.local.set({ [NAME]: connection })

/** @returns undefined for a text that is not a server's address */
export function parseOrigin(text: string): string | undefined {
  const typed = text.trim()
  const url = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`)
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' && url.username === ''
    ? url.origin
    : undefined
}

/** The permission for the server's host, and for no other. Firefox takes no port in it. */
export function toHostPermission(origin: string): { origins: string[] } {
  const { protocol, hostname } = new URL(origin)
  return { origins: [`${protocol}//${hostname}/*`] }
}
