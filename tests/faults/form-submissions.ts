// Creates a form over HTTP and sends submissions to it: by script, and natively as a form without JavaScript.

import { NAVIGATION_HEADERS, SCRIPT_HEADERS } from '../support/form-requests.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import type { Installation, ServerClient, ServerProcess } from './server-process.ts'

export type SubmissionMode = 'script' | 'native'

const HEADERS: Record<SubmissionMode, Record<string, string>> = {
  script: SCRIPT_HEADERS,
  native: NAVIGATION_HEADERS,
}

/** @param channelIds where notifications of its submissions go. @returns the form's key */
export async function createFormOverHttp(
  server: ServerProcess,
  { keys }: Pick<Installation, 'keys'>,
  channelIds: number[] = [],
): Promise<string> {
  const form = { name: 'Contact', channelIds }
  const { status, text, json } = await server.api(keys[0] as string, '/forms', form)
  if (status !== 201) throw new Error(`the form was not created: ${status} ${text}`)
  return json.data.formKey
}

// Longer than one page of SQLite's log, so that a half-written submission is noticed.
const MESSAGE = 'A long message. '.repeat(200)

export const sendSubmission = (server: ServerClient, form: string, marker: string, mode: SubmissionMode) =>
  server.submit(form, `marker=${marker}&message=${MESSAGE}`, HEADERS[mode])

/** @returns the marker of a stored submission @throws when it is not stored exactly as it was sent */
export function readMarker(fields: string): string {
  const [marker, message, ...more] = JSON.parse(fields) as [string, string][]
  const isComplete =
    marker?.[0] === 'marker' && message?.[0] === 'message' && message[1] === MESSAGE && more.length === 0
  if (!isComplete) throw new Error(`the submission is not stored as it was sent: ${fields.slice(0, 200)}`)
  return marker[1]
}

/** True when the answer says that the submission is stored. */
export const isAcknowledged = ({ status, text, headers }: HttpAnswer, mode: SubmissionMode) =>
  mode === 'script'
    ? status === 200 && text === '{"ok":true}'
    : status === 303 && (headers.get('location')?.endsWith('/thanks') ?? false)
