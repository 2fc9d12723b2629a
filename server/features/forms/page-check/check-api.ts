// POST /v1/forms/{formKey}/check: finds what will go wrong with a form on its page, and how to fix it.

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, jsonRequestBody } from '../../../http/api-route.ts'
import { isCleanText } from '../../../lib/text.ts'
import { toDomainOrigin } from '../../../lib/web-url.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { FieldLabelsShape } from '../labels/schema.ts'
import { FormKeyParameter, pageAddress } from '../schema.ts'
import { toFormResource } from '../settings/form.ts'
import { getForm } from '../settings/get-form.ts'
import type { PageCheckInput } from './check-page.ts'
import { type FetchPageNeeds, fetchPage, PAGE_BYTES_MAX } from './fetch-page.ts'
import { FindingShape, sortFindings } from './finding.ts'

export interface CheckApiNeeds extends FetchPageNeeds {
  origin: string
  /** The captcha is Cloudflare Turnstile, not the built-in one. */
  turnstile: boolean
}

const pageText = z
  .string({ error: 'must be a string' })
  .min(1, 'must not be empty')
  .refine((value) => Buffer.byteLength(value) <= PAGE_BYTES_MAX, `must be at most ${PAGE_BYTES_MAX} bytes`)
  .refine(isCleanText, 'must not contain NUL or broken Unicode characters')
  .optional()
  .openapi({ minLength: 1, maxLength: PAGE_BYTES_MAX, description: 'The HTML of the page, at most 900 KB' })

const CheckForm = z
  .strictObject({
    url: pageAddress()
      .optional()
      .openapi({ description: 'The public address of the page, which the server fetches' }),
    html: pageText,
    pageUrl: pageAddress().optional().openapi({ description: 'With html: the address of that page' }),
  })
  .superRefine(({ url, html, pageUrl }, context) => {
    const wrong = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (url === undefined && html === undefined) wrong('url', 'is required, unless html is given')
    if (url !== undefined && html !== undefined) wrong('html', 'must not be given together with url')
    if (url !== undefined && pageUrl !== undefined) wrong('pageUrl', 'needs html')
  })
  .openapi('CheckForm', {
    oneOf: [{ required: ['url'] }, { required: ['html'] }],
    // OpenAPI 3.1 has this keyword. The library's types have only the keywords of 3.0.
    ...({ dependentRequired: { pageUrl: ['html'] } } as object),
  })

const FormCheck = z
  .strictObject({
    url: z.string().nullable().openapi({ description: 'Address of the page, if known' }),
    hasForm: z.boolean().openapi({ description: 'A form of the page posts to this form' }),
    ok: z.boolean().openapi({ description: 'No finding is an error' }),
    labels: FieldLabelsShape.openapi({
      description: "The page's labels for the fields of this form. Save them as `fieldLabels`",
    }),
    findings: z.array(FindingShape).openapi({ description: 'Errors first' }),
  })
  .openapi('FormCheck')

const route = apiRoute({
  tags: ['Forms'],
  method: 'post',
  path: '/forms/{formKey}/check',
  slow: true,
  scope: 'forms:read',
  operationId: 'checkForm',
  summary: 'Check the page that has a form',
  description:
    'Reads the page, by its address or as text, and lists problems of its form with their fixes. Nothing is submitted or stored. A page that cannot be fetched is a finding too.',
  request: {
    params: FormKeyParameter,
    body: jsonRequestBody(CheckForm, {
      html: '<form action="https://go.example/f/k7m2xw9qpd" method="post"><input name="email"></form>',
      pageUrl: 'https://example.com/contact',
    }),
  },
  responses: { 200: dataResponse(FormCheck, 'The findings') },
  fails: [404],
})

export function createFormCheckApi(needs: CheckApiNeeds) {
  return createApi().openapi(route, async (c) => {
    const { formKey } = c.req.valid('param')
    const { url, html, pageUrl = null } = c.req.valid('json')
    const { read } = c.get('db')
    // Imported on first use: the HTML tokenizer takes 10 MB of memory, and most servers never check a page.
    const { checkPage } = await import('./check-page.ts')
    const found = await getFormToCheck(read, c.get('actor'), formKey, needs.origin)
    const check = { ...found, turnstile: needs.turnstile }
    if (html !== undefined) {
      const { findings, ...checked } = await checkPage({ ...check, html, pageUrl })
      return c.json({ data: { url: pageUrl, ...checked, ok: isOk(findings), findings } }, 200)
    }
    const pageAt = url as string
    const { page, findings: fetchFindings } = await fetchPage(needs, pageAt)
    const checked = page && (await checkPage({ ...check, ...page, pageUrl: pageAt }))
    const findings = sortFindings([...fetchFindings, ...(checked?.findings ?? [])])
    const { hasForm = false, labels = {} } = checked ?? {}
    return c.json({ data: { url: pageAt, hasForm, labels, ok: isOk(findings), findings } }, 200)
  })
}

const isOk = (findings: { severity: string }[]) => findings.every(({ severity }) => severity !== 'error')

/** @throws Failure `not_found` */
async function getFormToCheck(
  connection: Connection,
  actor: Actor,
  formKey: string,
  origin: string,
): Promise<Pick<PageCheckInput, 'form' | 'publicId' | 'origin' | 'domainOrigins'>> {
  const form = toFormResource({ origin }, await getForm(connection, actor, formKey))
  const workspace = await connection
    .selectFrom('workspaces')
    .select('public_id')
    .where('id', '=', actor.workspaceId)
    .executeTakeFirstOrThrow()
  const domains = await connection
    .selectFrom('domains')
    .select('domain')
    .where('workspace_id', '=', actor.workspaceId)
    .where('verified_at', 'is not', null)
    .execute()
  const domainOrigins = domains.map(({ domain }) => toDomainOrigin(origin, domain))
  return { form, publicId: workspace.public_id, origin, domainOrigins }
}
