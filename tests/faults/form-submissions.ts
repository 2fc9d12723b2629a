// A form of a real server, and senders that send it something in either mode.

import { NAVIGATION_HEADERS, SCRIPT_HEADERS } from '../support/form-requests.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import type { Installation, ServerProcess } from './server-process.ts'

export type SubmissionMode = 'script' | 'native'

const HEADERS: Record<SubmissionMode, Record<string, string>> = {
  script: SCRIPT_HEADERS,
  native: NAVIGATION_HEADERS,
}

/** @returns the form's key */
export async function createFormOverHttp(server: ServerProcess, { keys }: Installation): Promise<string> {
  const { status, text, json } = await server.api(keys[0] as string, '/forms', { name: 'Contact' })
  if (status !== 201) throw new Error(`the form was not made: ${status} ${text}`)
  return json.data.formKey
}

// Long enough that a submission takes more than one page of the log: half of one would show.
const MESSAGE = 'So many words. '.repeat(200)

export const sendSubmission = (server: ServerProcess, form: string, marker: string, mode: SubmissionMode) =>
  server.submit(form, `marker=${marker}&message=${MESSAGE}`, HEADERS[mode])

/** The marker of a stored submission. @throws when the submission is not the whole that was sent */
export function readMarker(fields: string): string {
  const [marker, message, ...more] = JSON.parse(fields) as [string, string][]
  const whole =
    marker?.[0] === 'marker' && message?.[0] === 'message' && message[1] === MESSAGE && more.length === 0
  if (!whole) throw new Error(`stored, but not as it was sent: ${fields.slice(0, 200)}`)
  return marker[1]
}

/** Does this answer say that the submission is stored? */
export const isAcknowledged = ({ status, text, headers }: HttpAnswer, mode: SubmissionMode) =>
  mode === 'script'
    ? status === 200 && text === '{"ok":true}'
    : status === 303 && (headers.get('location')?.endsWith('/thanks') ?? false)
