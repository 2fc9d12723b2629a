// Sends large files to a form of a server process, from many senders at once, without having the files in memory.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { MULTIPART_TYPE, nextSenderAddress, SCRIPT_HEADERS } from '../support/form-requests.ts'
import { readStatuses } from '../support/raw-client.ts'
import type { Installation, ServerClient } from './server-process.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'towpath ')

export async function createUploadForm(
  server: ServerClient,
  { keys }: Pick<Installation, 'keys'>,
  uploads: { maxFiles?: number; maxBytes: number },
): Promise<string> {
  const { status, text, json } = await server.api(keys[0] as string, '/forms', { name: 'Files', uploads })
  if (status !== 201) throw new Error(`the form was not created: ${status} ${text}`)
  return json.data.formKey
}

export interface LargeUpload {
  /** The size of its only file. */
  bytes: number
  /** Makes each file another one: its first bytes, and its name. */
  marker: string
}

/** @returns the SHA-256 of the file that `sendLargeFile` sends */
export function hashLargeFile({ bytes, marker }: LargeUpload): string {
  const hash = createHash('sha256')
  for (const chunk of toChunks(bytes, marker)) hash.update(chunk)
  return hash.digest('hex')
}

function* toChunks(bytes: number, marker: string): Generator<Buffer> {
  const first = Buffer.from(marker)
  yield first
  for (let left = bytes - first.length; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left)
}

/** @returns the status, or 0 where the connection ended without an answer */
export function sendLargeFile(
  { origin }: Pick<ServerClient, 'origin'>,
  form: string,
  upload: LargeUpload,
): Promise<number> {
  const head = `--Bd\r\nContent-Disposition: form-data; name="file"; filename="${upload.marker}"\r\n\r\n`
  const end = '\r\n--Bd--\r\n'
  const headers = {
    Host: 'a',
    'Content-Type': MULTIPART_TYPE,
    'Content-Length': head.length + upload.bytes + end.length,
    'X-Forwarded-For': nextSenderAddress(),
    ...SCRIPT_HEADERS,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      const status = readStatuses(text).at(-1)
      if (status === undefined || !text.includes('\r\n\r\n')) return
      resolve(status)
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(0))
    socket.on('connect', async () => {
      socket.write(`POST /f/${form} HTTP/1.1\r\n${lines.join('')}\r\n${head}`)
      for (const chunk of toChunks(upload.bytes, upload.marker)) {
        if (socket.destroyed) return
        if (!socket.write(chunk)) await waitForDrain(socket)
      }
      socket.write(end)
    })
  })
}

const waitForDrain = (socket: ReturnType<typeof connect>) =>
  new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.once('drain', done).once('close', done)
  })
