// The route for submissions from a site's own server (docs/contract.md §6).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, jsonRequestBody } from '../../../http/api-route.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { FormKeyParameter } from '../schema.ts'
import { SubmissionShape } from '../submissions/schema.ts'
import { type CreateSubmissionNeeds, createSubmission } from './create-submission.ts'
import { CreateSubmission } from './schema.ts'

const route = apiRoute({
  tags: ['Submissions'],
  method: 'post',
  path: '/forms/{formKey}/submissions',
  scope: 'submissions:write',
  operationId: 'createSubmission',
  summary: "Store a submission from your site's own server",
  description:
    'For a server that takes the form itself. It is checked, judged, announced and answered as one that a browser posts to ' +
    'the form, but no captcha and no origin is asked, and the limit of an address does not hold. Files are not taken. A ' +
    'mistake in a field is named as `fields.<name>`. A form that is disabled refuses it with 403.',
  request: {
    params: FormKeyParameter,
    body: jsonRequestBody(CreateSubmission, {
      fields: { name: 'Ada Lovelace', email: 'ada@example.com', message: 'Please call me back.' },
      address: '203.0.113.7',
      pageUrl: 'https://example.com/contact?utm_source=news',
    }),
  },
  responses: {
    200: dataResponse(
      z.null(),
      'Caught by the honeypot: it is not stored, and the sender should see a success',
    ),
    201: dataResponse(SubmissionShape, 'The stored submission'),
  },
  fails: [404],
})

export const createSubmissionApi = (needs: CreateSubmissionNeeds) =>
  createApi().openapi(route, async (c) => {
    const { formKey } = c.req.valid('param')
    const { fields: _, ...input } = c.req.valid('json')
    const forThis = { ...needs, db: c.get('db') }
    const data = await createSubmission(forThis, c.get('actor'), formKey, input, await c.req.text())
    if (data === null) return c.json({ data }, 200)
    return c.body(orderedJson({ data }), 201, { 'Content-Type': 'application/json' }) as never
  })
