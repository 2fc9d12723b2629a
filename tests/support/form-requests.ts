// Creates forms, posts to them as browsers do, and reads the stored submissions.

import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import type { ConsentSettings } from '../../server/features/forms/consent/schema.ts'
import type { ReplySettings } from '../../server/features/forms/replies/schema.ts'
import type { FieldMessages, FieldRules } from '../../server/features/forms/rules/schema.ts'
import { NO_SPAM_RULES } from '../../server/features/forms/settings/form-defaults.ts'
import { newFormKey } from '../../server/features/forms/settings/form-key.ts'
import type { SpamSettings } from '../../server/features/forms/spam/schema.ts'
import type { UploadSettings } from '../../server/features/forms/uploads/schema.ts'
import type { HttpAnswer } from './server/http-call.ts'
import type { TestServer } from './world.ts'

/** Lets a test set the sender's address in `X-Forwarded-For`: a form takes ten submissions a minute from an address. */
export const BEHIND_PROXY = { environment: { TRUST_PROXY: '127.0.0.1' } }

export const URLENCODED_TYPE = 'application/x-www-form-urlencoded'
export const JSON_TYPE = 'application/json'
export const MULTIPART_TYPE = 'multipart/form-data; boundary=Bd'
export const NAVIGATION_HEADERS = {
  'Sec-Fetch-Mode': 'navigate',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
}
export const SCRIPT_HEADERS = { 'Sec-Fetch-Mode': 'cors', Accept: '*/*' }

type Headers = Record<string, string>

/** What people and programs send to the address of a form. */
interface Sender {
  /** Posts a body, from a new address unless the headers set one. */
  post(type: string | undefined, body: string, headers?: Headers): Promise<HttpAnswer>
  /** Posts fields as a script's `fetch` does: the answer is JSON. */
  fetch(body: string, headers?: Headers): Promise<HttpAnswer>
  /** Posts fields as a browser does that leaves the page for the answer. */
  navigate(body: string, headers?: Headers): Promise<HttpAnswer>
  /** Posts JSON. A text is sent as it is. */
  json(body: unknown, headers?: Headers): Promise<HttpAnswer>
}

export interface TestForm extends Sender {
  id: number
  key: string
  workspaceId: number
  /** The stored submissions, oldest first. */
  submissions(): ReturnType<typeof listStoredSubmissions>
  /** The fields of each stored submission, oldest first. */
  fields(): ReturnType<typeof listStoredFields>
}

export interface TestFormSettings {
  enabled?: boolean
  requiredFields?: string[]
  redirectUrl?: string
  pageUrl?: string
  afterSubmit?: 'referer' | 'hosted'
  onError?: 'referer' | 'hosted'
  successMessage?: string
  captcha?: boolean
  allowedOrigins?: string[]
  perAddress?: number
  nextHosts?: string[]
  uploads?: UploadSettings
  reply?: ReplySettings
  spam?: Partial<SpamSettings>
  rules?: FieldRules
  messages?: FieldMessages
  consent?: ConsentSettings
  retentionDays?: number
  spamRetentionDays?: number
}

const toJson = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value))

export async function createTestForm(server: TestServer, settings: TestFormSettings = {}): Promise<TestForm> {
  const { db } = server.app
  const workspace = await createWorkspace({ db, now: Date.now }, { name: 'Test', plan: 'pro' })
  const key = newFormKey()
  const { id } = await db.write((connection) =>
    connection
      .insertInto('forms')
      .values({
        workspace_id: workspace.id,
        form_key: key,
        name: 'Contact',
        enabled: Number(settings.enabled ?? true),
        required_fields: JSON.stringify(settings.requiredFields ?? []),
        redirect_url: settings.redirectUrl ?? null,
        page_url: settings.pageUrl ?? null,
        after_submit: settings.afterSubmit,
        on_error: settings.onError,
        captcha: Number(settings.captcha ?? false),
        success_message: settings.successMessage ?? null,
        allowed_origins: JSON.stringify(settings.allowedOrigins ?? []),
        per_address: settings.perAddress ?? null,
        next_hosts: JSON.stringify(settings.nextHosts ?? []),
        uploads: toJson(settings.uploads),
        reply: toJson(settings.reply),
        spam: toJson(settings.spam && { ...NO_SPAM_RULES, ...settings.spam }),
        rules: toJson(settings.rules),
        messages: toJson(settings.messages),
        consent: toJson(settings.consent),
        retention_days: settings.retentionDays ?? null,
        spam_retention_days: settings.spamRetentionDays ?? null,
        created_at: 1,
        updated_at: 1,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  const place = { id, key, workspaceId: workspace.id }
  return {
    ...place,
    ...sendTo(server, key),
    submissions: () => listStoredSubmissions(server, place),
    fields: () => listStoredFields(server, place),
  }
}

/** @param key that of any form, or of none */
export function sendTo(server: TestServer, key: string): Sender {
  const post: Sender['post'] = (type, body, headers) => postToForm(server, { key }, type, body, headers)
  return {
    post,
    fetch: (body, headers) => post(URLENCODED_TYPE, body, { ...SCRIPT_HEADERS, ...headers }),
    navigate: (body, headers) => post(URLENCODED_TYPE, body, { ...NAVIGATION_HEADERS, ...headers }),
    json: (body, headers) => post(JSON_TYPE, typeof body === 'string' ? body : JSON.stringify(body), headers),
  }
}

let senders = 0

/** @returns an address that no test has sent from */
export function nextSenderAddress(): string {
  senders++
  return `10.${(senders >> 16) & 255}.${(senders >> 8) & 255}.${senders & 255}`
}

/** Posts a body to a form, from a new address unless the headers set one. */
export function postToForm(
  server: TestServer,
  form: { key: string },
  type: string | undefined,
  body: string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  return server.call(`/f/${form.key}`, {
    method: 'POST',
    body,
    headers: {
      'X-Forwarded-For': nextSenderAddress(),
      ...(type ? { 'Content-Type': type } : {}),
      ...headers,
    },
  })
}

/** The stored submissions of a form, oldest first. */
export async function listStoredSubmissions(server: TestServer, form: Pick<TestForm, 'id' | 'workspaceId'>) {
  const rows = await server.app.db.read
    .selectFrom('submissions')
    .selectAll()
    .where('workspace_id', '=', form.workspaceId)
    .where('form_id', '=', form.id)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, fields: JSON.parse(row.fields) as [string, string][] }))
}

/** The fields of each stored submission, oldest first. */
export const listStoredFields = async (server: TestServer, form: Pick<TestForm, 'id' | 'workspaceId'>) =>
  (await listStoredSubmissions(server, form)).map(({ fields }) => fields)

/** A multipart body with the boundary of `MULTIPART_TYPE`; `file` is the name of a chosen file, '' for none. */
export function toMultipart(parts: { name: string; value: string; file?: string }[]): string {
  const toParameter = (name: string) =>
    name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const texts = parts.map(({ name, value, file }) => {
    const fileName =
      file === undefined ? '' : `; filename="${file}"\r\nContent-Type: application/octet-stream`
    return `--Bd\r\nContent-Disposition: form-data; name="${toParameter(name)}"${fileName}\r\n\r\n${value}\r\n`
  })
  return `${texts.join('')}--Bd--\r\n`
}
