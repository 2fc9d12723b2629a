// Sends files to POST /imports as a browser and curl do, and waits for the end of an import.

import type { HttpAnswer } from '../server/http-call.ts'
import { readAnswer } from '../server/http-call.ts'
import { until } from '../until.ts'

/** A server and the key of a workspace on it. */
export interface ImportTarget {
  origin: string
  key: string
}

export interface ImportUpload {
  /** Fields of the form, in this order, before the files. Objects are sent as JSON. */
  fields?: Record<string, unknown>
  file?: Upload
  clicks?: Upload
}
type Upload = File | { name: string; text: string }

/** An import as `GET /imports/{id}` answers it. */
export interface ImportAnswer {
  id: number
  status: 'queued' | 'running' | 'done' | 'failed' | 'undone'
  stage: string
  rows: number
  created: number
  renamed: number
  skipped: number
  failed: number
  clicks: number
  notices: string[]
  problem: string | null
  errors: { row: number; field: string; value: string | null; message: string }[]
  [field: string]: unknown
}

/** Long, because the machine may be busy with other processes. */
const WITHIN_MS = 120_000
const MOST_PAUSE_MS = 400

/** Waits where the key has sent its 300 requests of a minute: on a busy machine, an import is asked for more often. */
export async function call(
  { origin, key }: ImportTarget,
  path: string,
  init: RequestInit = {},
): Promise<HttpAnswer> {
  const headers = { Authorization: `Bearer ${key}`, ...(init.headers as Record<string, string> | undefined) }
  for (;;) {
    const answer = await readAnswer(await fetch(`${origin}/v1${path}`, { ...init, headers }))
    if (answer.status !== 429 || !answer.text.includes('Rate limit exceeded')) return answer
    await Bun.sleep(Number(answer.headers.get('retry-after')) * 1000)
  }
}

/** Uploads files, and waits for nothing. */
export async function sendImport(
  target: ImportTarget,
  { fields = {}, file, clicks }: ImportUpload,
  path = '/imports',
): Promise<HttpAnswer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  if (file) form.append('file', toFile(file))
  if (clicks) form.append('clicks', toFile(clicks))
  return call(target, path, { method: 'POST', body: form })
}

const toFile = (upload: Upload) =>
  upload instanceof File ? upload : new File([upload.text], upload.name, { type: 'text/plain' })

/** Resolves with the import once `isReached` says so. It asks rarely: a key may send 300 requests a minute. */
export function waitForProgress(
  target: ImportTarget,
  id: number,
  isReached: (found: ImportAnswer) => boolean,
): Promise<ImportAnswer> {
  let asked = 0
  return until(
    `import ${id}`,
    async () => {
      await Bun.sleep(Math.min(asked++ * 20, MOST_PAUSE_MS))
      const { status, json } = await call(target, `/imports/${id}`)
      return status === 200 && isReached(json.data) ? (json.data as ImportAnswer) : undefined
    },
    WITHIN_MS,
  )
}

export const hasEnded = ({ status }: ImportAnswer) => status !== 'queued' && status !== 'running'

export const waitForEnd = (target: ImportTarget, id: number): Promise<ImportAnswer> =>
  waitForProgress(target, id, hasEnded)

/** Uploads files and waits for the end of the import. @throws when the upload is refused */
export async function uploadAndRun(target: ImportTarget, upload: ImportUpload): Promise<ImportAnswer> {
  const { status, text, json } = await sendImport(target, upload)
  if (status !== 202) throw new Error(`the import was not taken: ${status} ${text}`)
  return waitForEnd(target, json.data.id)
}

/** Undoes an import and waits for the end. */
export async function undoImport(target: ImportTarget, id: number): Promise<ImportAnswer> {
  const { status, text } = await call(target, `/imports/${id}`, { method: 'DELETE' })
  if (status !== 200) throw new Error(`the import was not undone: ${status} ${text}`)
  return waitForProgress(target, id, (found) => found.status === 'undone')
}
