// The REST API of forms and submissions (docs/contract.md §6).

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { sendFile } from '../../http/send-file.ts'
import { sendPage } from '../../http/send-page.ts'
import { orderedJson } from '../../lib/formats/ordered-json.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { recordExport } from '../accounts/audit/record-export.ts'
import type { AnnounceNeeds } from './leads/announce-submission.ts'
import * as formShapes from './schema.ts'
import { createForm, deleteForm, updateForm } from './settings/change-form.ts'
import { getForm, listForms, toFormResource } from './settings/form.ts'
import type { SpamLearner } from './spam/learn-spam.ts'
import type { WorkspaceSpamCache } from './spam/workspace-spam.ts'
import { getAttributionReport } from './submissions/attribution-report.ts'
import { deleteSubmission, deleteSubmissions } from './submissions/delete-submissions.ts'
import { exportSubmissions } from './submissions/export-submissions.ts'
import { getSubmission } from './submissions/get-submission.ts'
import { listAllSubmissions, listSubmissions } from './submissions/list-submissions.ts'
import * as submissionShapes from './submissions/schema.ts'
import { SubmissionIds, SubmissionStateShape, UpdateSubmissions } from './submissions/schema.ts'
import { toSubmissionResource } from './submissions/submission.ts'
import { updateSubmission, updateSubmissions } from './submissions/update-submissions.ts'

export interface FormsApiNeeds extends Omit<AnnounceNeeds, 'db'> {
  /** `https://go.example`, before `/f/{formKey}`. */
  origin: string
  now: () => number
  /** Assigns links to the workspace's pending submissions, as far as that takes at most two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
  /** True where the operator blocks the URL's host. */
  isBlocked: (url: URL) => boolean
  spam: SpamLearner & Pick<WorkspaceSpamCache, 'invalidate'>
  /** False where the operator has set up no mail server. */
  canMail: boolean
  canStoreFiles: () => boolean
}

const shapes = { ...formShapes, ...submissionShapes }
const { FormShape, SubmissionShape } = shapes
const forms = { tags: ['Forms'] }
const submissions = { tags: ['Submissions'] }
const readSubmissions = { ...submissions, method: 'get', scope: 'submissions:read' } as const
const writeSubmissions = { ...submissions, scope: 'submissions:write' } as const
const byFormKey = { params: shapes.FormKeyParameter }
const byId = { params: IdParameter }

const formRoutes = {
  list: apiRoute({
    ...forms,
    method: 'get',
    path: '/forms',
    scope: 'forms:read',
    operationId: 'listForms',
    summary: 'List forms, newest first',
    request: { query: shapes.FormListQuery },
    responses: { 200: pageResponse(FormShape, 'A page of forms') },
  }),
  create: apiRoute({
    ...forms,
    method: 'post',
    path: '/forms',
    scope: 'forms:write',
    operationId: 'createForm',
    summary: 'Create a form',
    request: {
      body: jsonRequestBody(shapes.CreateForm, {
        name: 'Contact',
        requiredFields: ['email', 'message'],
        successMessage: 'Thank you! We answer within a day.',
      }),
    },
    responses: { 201: dataResponse(FormShape, 'The new form') },
    fails: [409],
  }),
  get: apiRoute({
    ...forms,
    method: 'get',
    path: '/forms/{formKey}',
    scope: 'forms:read',
    operationId: 'getForm',
    summary: 'Get a form',
    request: byFormKey,
    responses: { 200: dataResponse(FormShape, 'The form') },
    fails: [404],
  }),
  update: apiRoute({
    ...forms,
    method: 'patch',
    path: '/forms/{formKey}',
    scope: 'forms:write',
    operationId: 'updateForm',
    summary: 'Change a form',
    description:
      'A key that shortens `retentionDays` or `spamRetentionDays` needs the scope `submissions:write` too: that deletes ' +
      'submissions.',
    request: {
      ...byFormKey,
      body: jsonRequestBody(shapes.UpdateForm, { redirectUrl: 'https://example.com/thanks' }),
    },
    responses: { 200: dataResponse(FormShape, 'The changed form') },
    fails: [404],
  }),
  delete: apiRoute({
    ...forms,
    method: 'delete',
    path: '/forms/{formKey}',
    scope: ['forms:write', 'submissions:write'],
    shows: 'forms:read',
    operationId: 'deleteForm',
    summary: 'Delete a form and all its submissions',
    description:
      'This cannot be undone. Pages that still post to the form get 404. To stop submissions and keep the stored ones, ' +
      'set `enabled` to false.',
    request: byFormKey,
    responses: { 200: dataResponse(FormShape, 'The deleted form') },
    fails: [404],
  }),
}

const states = z.array(SubmissionStateShape)

const submissionRoutes = {
  list: apiRoute({
    ...readSubmissions,
    path: '/forms/{formKey}/submissions',
    operationId: 'listSubmissions',
    summary: 'List the submissions of a form, newest first',
    description:
      'Filters can be combined, and a submission must pass all of them. A page ends at about 4 MiB: it can be shorter ' +
      'than `limit` and have a `nextCursor`.',
    request: { ...byFormKey, query: shapes.SubmissionListQuery },
    responses: { 200: pageResponse(SubmissionShape, 'A page of submissions') },
    fails: [404],
  }),
  all: apiRoute({
    ...readSubmissions,
    path: '/submissions',
    operationId: 'listAllSubmissions',
    summary: 'List the submissions of all forms, newest first',
    description: 'Takes the filters of the list of one form, and `formKey`. A page ends at about 4 MiB.',
    request: { query: shapes.AllSubmissionsQuery },
    responses: { 200: pageResponse(SubmissionShape, 'A page of submissions') },
  }),
  export: apiRoute({
    ...readSubmissions,
    path: '/forms/{formKey}/submissions/export',
    operationId: 'exportSubmissions',
    summary: 'Export the submissions of a form',
    description:
      'The file has the submissions that are stored at the time of the request, oldest first. It takes the filters of ' +
      'the list. In CSV each of the first 1,000 fields that the form ever got is a column, and `moreFields` has the others as ' +
      'JSON; a field with the name of another column is `fields.<name>`. Text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage ' +
      'return, and is no number or telephone number) gets an apostrophe in front, in headers too. XLSX opens in Excel ' +
      'as it is: its texts are texts, and its times are times.',
    request: { ...byFormKey, query: shapes.SubmissionExportQuery },
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('The name of the file, with the form key'),
        content: {
          'text/csv': toFileSchema('id,createdAt,status,name,message,notes,email,…'),
          [EXPORT_MEDIA_TYPES.xlsx]: toFileSchema('PK'),
          'application/json': { schema: z.strictObject({ data: z.array(SubmissionShape) }) },
          'application/x-ndjson': toFileSchema('{"id":1,"formKey":"k7m2xw9qpd","fields":{"name":"Ada"},…}'),
        },
      },
    },
    fails: [404],
  }),
  updateMany: apiRoute({
    ...writeSubmissions,
    method: 'patch',
    path: '/submissions/bulk',
    operationId: 'updateSubmissions',
    summary: 'Change the status or the assignee of up to 100 submissions, all or nothing',
    request: { body: jsonRequestBody(UpdateSubmissions, { ids: [1], status: 'archived' }) },
    responses: { 200: dataResponse(states, 'Their statuses now, in the order of the request') },
    fails: [404],
  }),
  deleteMany: apiRoute({
    ...writeSubmissions,
    method: 'delete',
    path: '/submissions/bulk',
    operationId: 'deleteSubmissions',
    summary: 'Delete up to 100 submissions, all or nothing',
    request: { query: SubmissionIds },
    responses: { 200: dataResponse(states, 'The deleted submissions and the statuses that they had') },
    fails: [404],
  }),
  get: apiRoute({
    ...readSubmissions,
    path: '/submissions/{id}',
    operationId: 'getSubmission',
    summary: 'Get a submission',
    request: byId,
    responses: { 200: dataResponse(SubmissionShape, 'The submission') },
    fails: [404],
  }),
  update: apiRoute({
    ...writeSubmissions,
    method: 'patch',
    path: '/submissions/{id}',
    operationId: 'updateSubmission',
    summary: 'Change the status, the notes or the assignee of a submission',
    request: {
      ...byId,
      body: jsonRequestBody(shapes.UpdateSubmission, { status: 'read', notes: 'Called back' }),
    },
    responses: { 200: dataResponse(SubmissionShape, 'The changed submission') },
    fails: [404],
  }),
  delete: apiRoute({
    ...writeSubmissions,
    method: 'delete',
    path: '/submissions/{id}',
    operationId: 'deleteSubmission',
    summary: 'Delete a submission',
    request: byId,
    responses: { 200: dataResponse(SubmissionShape, 'The deleted submission') },
    fails: [404],
  }),
  attribution: apiRoute({
    ...readSubmissions,
    path: '/submissions/{id}/attribution',
    operationId: 'getSubmissionAttribution',
    summary: 'Get the attribution of a submission: its touches in order, and why each counts',
    request: byId,
    responses: { 200: dataResponse(z.array(shapes.TouchShape), 'The touches, the earliest first') },
    fails: [404],
  }),
}

/** A client that takes no byte for this long is disconnected. */
const SENDING_IDLE_SECONDS = 30

type Ctx = Context<ApiEnv>

/** Answers with JSON that keeps the order of Maps. The route's type has objects in their place, hence `never`. */
const answerOrdered = (c: Ctx, value: unknown): never =>
  c.body(orderedJson(value), 200, { 'Content-Type': 'application/json' }) as never

export function createFormsApi(needs: FormsApiNeeds) {
  const toNeeds = (c: Ctx) => ({ ...needs, db: c.get('db') })
  const api = createApi()
    .openapi(formRoutes.list, async (c) =>
      c.json(await listForms(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(formRoutes.create, async (c) =>
      c.json({ data: await createForm(toNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(formRoutes.get, async (c) => {
      const form = await getForm(c.get('db').read, c.get('actor'), c.req.valid('param').formKey)
      return c.json({ data: toFormResource(needs, form) }, 200)
    })
    .openapi(formRoutes.update, async (c) => {
      const { formKey } = c.req.valid('param')
      return c.json({ data: await updateForm(toNeeds(c), c.get('actor'), formKey, c.req.valid('json')) }, 200)
    })
    .openapi(formRoutes.delete, async (c) =>
      c.json({ data: await deleteForm(toNeeds(c), c.get('actor'), c.req.valid('param').formKey) }, 200),
    )
  return addSubmissions(addBulkChanges(api, toNeeds), toNeeds)
}

type ToNeeds = (c: Ctx) => FormsApiNeeds & { db: ApiEnv['Variables']['db'] }

/** Comes before `/submissions/{id}`, which matches the path too. */
const addBulkChanges = (api: ReturnType<typeof createApi>, toNeeds: ToNeeds) =>
  api
    .openapi(submissionRoutes.updateMany, async (c) =>
      c.json({ data: await updateSubmissions(toNeeds(c), c.get('actor'), c.req.valid('json')) }, 200),
    )
    .openapi(submissionRoutes.deleteMany, async (c) =>
      c.json({ data: await deleteSubmissions(toNeeds(c), c.get('actor'), c.req.valid('query').ids) }, 200),
    )

function addSubmissions(api: ReturnType<typeof createApi>, toNeeds: ToNeeds) {
  return api
    .openapi(submissionRoutes.list, async (c) => {
      const { formKey } = c.req.valid('param')
      const query = c.req.valid('query')
      const page = await listSubmissions(toNeeds(c), c.get('actor'), formKey, query, c.req.raw.signal)
      return sendPage(c, page)
    })
    .openapi(submissionRoutes.all, async (c) => {
      const query = c.req.valid('query')
      const page = await listAllSubmissions(toNeeds(c), c.get('actor'), query, c.req.raw.signal)
      return sendPage(c, page)
    })
    .openapi(submissionRoutes.export, async (c) => {
      const { formKey } = c.req.valid('param')
      const { format = 'csv', bom, delimiter, timezone, ...selection } = c.req.valid('query')
      // Counting the columns of a big form sends nothing for longer than an idle connection may stay open.
      c.env?.setIdleSeconds?.(0)
      const pieces = await exportSubmissions(
        toNeeds(c),
        c.get('actor'),
        formKey,
        selection,
        { format, bom, delimiter, timezone },
        c.req.raw.signal,
      ).finally(() => c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS))
      if (c.req.method !== 'HEAD') {
        const target = { type: 'form', id: formKey } as const
        // The values of filters can be an address of a visitor.
        const detail = { format, filters: Object.keys(selection).sort() }
        await recordExport(toNeeds(c), c.get('actor'), { action: 'submission.exported', target, detail })
      }
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES[format],
        'Content-Disposition': `attachment; filename=submissions-${formKey}.${format}`,
      })
    })
    .openapi(submissionRoutes.get, async (c) => {
      const row = await getSubmission(toNeeds(c), c.get('actor'), parseId(c.req.valid('param').id))
      return answerOrdered(c, { data: toSubmissionResource(toNeeds(c), row) })
    })
    .openapi(submissionRoutes.update, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return answerOrdered(c, {
        data: await updateSubmission(toNeeds(c), c.get('actor'), id, c.req.valid('json')),
      })
    })
    .openapi(submissionRoutes.delete, async (c) =>
      answerOrdered(c, {
        data: await deleteSubmission(toNeeds(c), c.get('actor'), parseId(c.req.valid('param').id)),
      }),
    )
    .openapi(submissionRoutes.attribution, async (c) => {
      const touches = await getAttributionReport(toNeeds(c), c.get('actor'), parseId(c.req.valid('param').id))
      return c.json({ data: touches }, 200)
    })
}
