// Imports through the API, for tests.

import type { ImportResource } from '../../../server/features/transfer/schema.ts'
import { type HttpAnswer, readAnswer } from '../server/http-call.ts'
import { until } from '../until.ts'
import type { TestServer, TestWorkspace } from '../world.ts'

type Api = Pick<TestWorkspace, 'api'>

/** Sends an import as JSON. */
export const postImport = (ws: Api, body: object): Promise<HttpAnswer> =>
  ws.api('/imports', { method: 'POST', body })

/** Sends an import as a form, its fields in their order. Files are blobs. */
export async function uploadImport(
  { origin }: Pick<TestServer, 'origin'>,
  { key }: Pick<TestWorkspace, 'key'>,
  fields: [string, string | Blob][],
  path = '/imports',
): Promise<HttpAnswer> {
  const form = new FormData()
  for (const [name, value] of fields) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, 'links.csv')
  }
  const headers = { Authorization: `Bearer ${key}` }
  return readAnswer(await fetch(`${origin}/v1${path}`, { method: 'POST', headers, body: form }))
}

export const getImport = async (ws: Api, id: number): Promise<ImportResource> =>
  (await ws.api(`/imports/${id}`)).json.data

/** @returns the import when it neither waits nor runs */
export function waitForImport(ws: Api, id: number): Promise<ImportResource> {
  return until('the end of the import', async () => {
    const found: ImportResource | undefined = await getImport(ws, id)
    // A long wait asks more often than a workspace may.
    return !found || ['queued', 'running'].includes(found.status) ? undefined : found
  })
}

/** Imports, and waits for the end. @throws when the API refuses it */
export async function runImport(ws: Api, body: object): Promise<ImportResource> {
  const { status, text, json } = await postImport(ws, body)
  if (status !== 202) throw new Error(`the import was refused: ${status} ${text}`)
  return waitForImport(ws, json.data.id)
}

/** @returns what became of each row, such as `2 link created go.example/a` */
export async function listRows(ws: Api, id: number): Promise<string[]> {
  const { json } = await ws.api(`/imports/${id}/rows?limit=100`)
  return json.data.map(
    ({ row, kind, outcome, name, message }: Record<string, unknown>) =>
      `${row} ${kind} ${outcome}${name === null ? '' : ` ${name}`}${message === null ? '' : `: ${message}`}`,
  )
}
