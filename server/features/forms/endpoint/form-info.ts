// GET /e/forms?keys=a,b: the settings that the snippet needs of the forms on a page, before anybody fills them in. It
// is open to every site, because it tells no more than the page itself shows.

import { toErrorResponse } from '../../../http/error-response.ts'
import { requestId } from '../../../http/request-id.ts'
import { type RequestDomain, servesWorkspace } from '../../../lib/request-domain.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { CaptchaProvider } from '../captcha/captcha-provider.ts'

export interface FormInfoNeeds {
  db: Pick<Database, 'read'>
  captcha: Pick<CaptchaProvider, 'describe'>
}

/** A request for more forms than this is somebody who guesses keys. */
const KEYS_MAX = 50

const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' }

/**
 * The answer leaves out unknown, disabled and suspended forms, and on a workspace's domain those of others. The snippet then
 * leaves those forms alone.
 */
export function createFormInfoEndpoint(needs: FormInfoNeeds) {
  return async (request: Request, domain: RequestDomain): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(405, 'Method not allowed', { Allow: 'GET, HEAD' })
    }
    const keys = parseKeys(request.url)
    if (keys.length > KEYS_MAX) return refuse(422, `keys: at most ${KEYS_MAX}`)
    try {
      return Response.json({ forms: await readFormInfo(needs, domain, keys) }, { headers: HEADERS })
    } catch (error) {
      const response = toErrorResponse(toFailure(error), requestId(request.headers.get('x-request-id')))
      for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
      return response
    }
  }
}

const refuse = (status: number, error: string, headers = {}) =>
  Response.json({ error }, { status, headers: { ...HEADERS, ...headers } })

/** Uses no URL parser, because a broken Host header makes a URL that the parser refuses. */
function parseKeys(url: string): string[] {
  const query = /\?([^#]*)/.exec(url)?.[1]
  const lists = new URLSearchParams(query).getAll('keys')
  return [...new Set(lists.flatMap((list) => list.split(',')))].filter((key) => key !== '')
}

async function readFormInfo({ db, captcha }: FormInfoNeeds, domain: RequestDomain, requestedKeys: string[]) {
  // PostgreSQL refuses some texts that cannot be a key, such as one with a NUL.
  const keys = requestedKeys.filter((key) => /^[\w-]{1,64}$/.test(key))
  if (keys.length === 0) return {}
  // The key itself says whose form it is.
  const forms = await db.read
    .selectFrom('forms')
    .innerJoin('workspaces', 'workspaces.id', 'forms.workspace_id')
    .select(['form_key', 'workspace_id', 'captcha', 'success_message', 'uploads'])
    .where('form_key', 'in', keys)
    .where('enabled', '=', 1)
    .where('workspaces.suspended_at', 'is', null)
    .execute()
  const answering = forms.filter((form) => servesWorkspace(domain, form.workspace_id))
  return Object.fromEntries(
    answering.map(({ form_key, captcha: hasCaptcha, success_message, uploads }) => [
      form_key,
      {
        successMessage: success_message,
        captcha: hasCaptcha ? captcha.describe(form_key) : null,
        uploads: uploads === null ? null : JSON.parse(uploads),
        texts: {
          sent: 'Thank you. What you sent has arrived.',
          failed: 'This could not be sent. Please try again.',
          check: 'Please check this field',
          uploading: 'Uploading: {percent} %',
          noUploads: 'File uploads are not supported',
        },
        messages: [
          'This field is required',
          'Enter a valid email address',
          'Must be a string',
          'File uploads are not supported',
          'Captcha verification required',
          'Captcha verification failed',
        ],
      },
    ]),
  )
}
