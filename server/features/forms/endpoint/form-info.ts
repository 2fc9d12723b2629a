// GET /e/forms?keys=a,b&lang=de: settings of the forms on a page, for the snippet. Every site may read it (CORS), because
// the page shows the same facts.

import { toErrorResponse } from '../../../http/error-response.ts'
import { requestId } from '../../../http/request-id.ts'
import { type RequestDomain, servesWorkspace } from '../../../lib/request-domain.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { CaptchaProvider } from '../captcha/captcha-provider.ts'
import { getTexts } from '../rules/languages.ts'
import { describeFileMistakes, listMessages } from '../rules/list-messages.ts'
import { chooseLanguage, type LanguageRequest, readLanguageRequest } from '../rules/sender-language.ts'
import { type FormSettings, findFormSettings } from '../settings/form-settings.ts'

export interface FormInfoNeeds {
  db: Pick<Database, 'read' | 'engine'>
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
  keys: string[],
  asked: LanguageRequest,
) {
  const found = await Promise.all(keys.map((key) => findFormSettings(db, key)))
  const answering = found.filter(
    (form) => form?.enabled && !form.suspended && servesWorkspace(domain, form.workspaceId),
  ) as FormSettings[]
  return Object.fromEntries(
    answering.map((form) => [
      form.formKey,
      {
        successMessage: form.successMessage,
        captcha: form.captcha ? captcha.describe(form.formKey) : null,
        ...describeForm(form, asked),
      },
    ]),
  )
}

/** The snippet's messages to the sender, in one language. */
function describeForm(form: FormSettings, asked: LanguageRequest) {
  const { messages, uploads, consent } = form
  const language = chooseLanguage(asked, Object.keys(messages))
  const source = { language, messages }
  return {
    uploads,
    consent,
    language: language.builtIn,
    texts: { ...getTexts(language.builtIn).snippet, ...describeFileMistakes(source, uploads) },
    messages: listMessages(source, form),
  }
}
