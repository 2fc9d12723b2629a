// GET /e/forms?keys=a,b&lang=de: settings of the forms on a page, for the snippet. Every site may read it (CORS), because
// the page shows the same facts.

import type { Selectable } from 'kysely'
import { toErrorResponse } from '../../../http/error-response.ts'
import { requestId } from '../../../http/request-id.ts'
import { type RequestDomain, servesWorkspace } from '../../../lib/request-domain.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import type { CaptchaProvider } from '../captcha/captcha-provider.ts'
import type { ConsentSettings } from '../consent/schema.ts'
import { getTexts } from '../rules/languages.ts'
import { describeFileMistakes, listMessages } from '../rules/list-messages.ts'
import type { FieldMessages, FieldRules } from '../rules/schema.ts'
import { chooseLanguage, type LanguageRequest, readLanguageRequest } from '../rules/sender-language.ts'
import { parseOrNull } from '../settings/form.ts'
import type { UploadSettings } from '../uploads/schema.ts'

export interface FormInfoNeeds {
  db: Pick<Database, 'read'>
  captcha: Pick<CaptchaProvider, 'describe'>
}

/** A request for more forms than this guesses keys. */
const KEYS_MAX = 50

const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store', Vary: 'Accept-Language' }

/**
 * The answer omits unknown and disabled forms, and forms of suspended workspaces. On a workspace's domain it also omits
 * forms of other workspaces. The snippet ignores omitted forms.
 */
export function createFormInfoEndpoint(needs: FormInfoNeeds) {
  return async (request: Request, domain: RequestDomain): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(405, 'Method not allowed', { Allow: 'GET, HEAD' })
    }
    const keys = parseKeys(request.url)
    if (keys.length > KEYS_MAX) return refuse(422, `keys: at most ${KEYS_MAX}`)
    try {
      const forms = await readFormInfo(needs, domain, keys, readLanguageRequest(request))
      return Response.json({ forms }, { headers: HEADERS })
    } catch (error) {
      const response = toErrorResponse(toFailure(error), requestId(request.headers.get('x-request-id')))
      for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
      return response
    }
  }
}

const refuse = (status: number, error: string, headers = {}) =>
  Response.json({ error }, { status, headers: { ...HEADERS, ...headers } })

/** No URL parser: it throws on a URL with a malformed Host header. */
function parseKeys(url: string): string[] {
  const query = /\?([^#]*)/.exec(url)?.[1]
  const lists = new URLSearchParams(query).getAll('keys')
  return [...new Set(lists.flatMap((list) => list.split(',')))].filter((key) => key !== '')
}

async function readFormInfo(
  { db, captcha }: FormInfoNeeds,
  domain: RequestDomain,
  requestedKeys: string[],
  asked: LanguageRequest,
) {
  // Only well-formed keys: PostgreSQL throws on text with a NUL.
  const keys = requestedKeys.filter((key) => /^[\w-]{1,64}$/.test(key))
  if (keys.length === 0) return {}
  // Not filtered by workspace: a form key is unique across workspaces.
  const forms = await db.read
    .selectFrom('forms')
    .innerJoin('workspaces', 'workspaces.id', 'forms.workspace_id')
    .select([
      ...(['form_key', 'workspace_id', 'required_fields', 'captcha', 'success_message'] as const),
      ...(['uploads', 'rules', 'messages', 'consent'] as const),
    ])
    .where('form_key', 'in', keys)
    .where('enabled', '=', 1)
    .where('workspaces.suspended_at', 'is', null)
    .execute()
  const answering = forms.filter((form) => servesWorkspace(domain, form.workspace_id))
  return Object.fromEntries(
    answering.map((row) => [
      row.form_key,
      {
        successMessage: row.success_message,
        captcha: row.captcha ? captcha.describe(row.form_key) : null,
        ...describeForm(row, asked),
      },
    ]),
  )
}

type InfoRow = Pick<
  Selectable<Forms>,
  'required_fields' | 'captcha' | 'uploads' | 'rules' | 'messages' | 'consent'
>

/** The snippet's messages to the sender, in one language. */
function describeForm(row: InfoRow, asked: LanguageRequest) {
  const messages: FieldMessages = parseOrNull(row.messages) ?? {}
  const uploads: UploadSettings | null = parseOrNull(row.uploads)
  const language = chooseLanguage(asked, Object.keys(messages))
  const source = { language, messages }
  const form = {
    requiredFields: JSON.parse(row.required_fields) as string[],
    captcha: row.captcha === 1,
    rules: (parseOrNull(row.rules) ?? {}) as FieldRules,
    uploads,
    consent: parseOrNull(row.consent) as ConsentSettings | null,
  }
  return {
    uploads,
    consent: form.consent,
    language: language.builtIn,
    texts: { ...getTexts(language.builtIn).snippet, ...describeFileMistakes(source, uploads) },
    messages: listMessages(source, form),
  }
}
