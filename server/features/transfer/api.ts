// The REST API of imports (docs/contract.md §11).

import type { z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { isMultipartForm } from '../../http/json-body.ts'
import { sendFile } from '../../http/send-file.ts'
import { type Action, type Actor, allow } from '../accounts/access/actor.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { FormKeyParameter } from '../forms/schema.ts'
import {
  type CreateNeeds,
  createImport,
  createSubmissionImport,
  requireFreeImportSlot,
  requireFullAccess,
} from './import/create-import.ts'
import { deleteImport } from './import/delete-import.ts'
import { exportErrors, getImport, listImportRows, listImports } from './import/find-imports.ts'
import { toImportResource } from './import/import-row.ts'
import { type InspectNeeds, inspectUpload } from './import/inspect-upload.ts'
import { receiveUpload, storeContents, type Upload, type UploadNeeds } from './import/receive-upload.ts'
import * as shapes from './schema.ts'

const imports = { tags: ['Import and export'] }
const { ImportShape } = shapes

/** A JSON body, or a form with files. Their fields have the same names; in a form, values other than texts are JSON. */
function uploadBody<T extends z.ZodObject>(schema: T, files: string[], example: z.input<T>): never {
  const { content, ...body } = jsonRequestBody(schema, example)
  const fields = Object.keys(schema.shape).filter((name) => !files.includes(name))
  const properties = Object.fromEntries([
    ...fields.map((name) => [name, { type: 'string' }]),
    ...files.map((name) => [name, { type: 'string', format: 'binary' }]),
  ])
  return {
    ...body,
    content: { ...content, 'multipart/form-data': { schema: { type: 'object', properties } } },
  } as never
}

const EXAMPLE_FILE = 'Short link,Destination URL\nhttps://bit.ly/spring,https://example.com/spring\n'

const EXAMPLE_SUBMISSIONS =
  'created_at,name,email,message\n2026-03-29T12:00:00Z,Ada Lovelace,ada@example.com,Please call me back.\n'

const routes = {
  list: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports',
    scope: 'links:read',
    operationId: 'listImports',
    summary: 'List imports',
    request: { query: shapes.ImportListQuery },
    responses: { 200: pageResponse(ImportShape, 'A page of imports, newest first') },
  }),
  create: apiRoute({
    ...imports,
    method: 'post',
    path: '/imports',
    scope: 'links:write',
    idempotent: false,
    takesUpload: true,
    operationId: 'createImport',
    summary: 'Import links and their clicks',
    description:
      'As a multipart form with files of up to 64 MiB (`clicks`, and `file` of the source `towpath`: 1 GiB), or as JSON of up to 1 MiB. ' +
      'A link that an earlier import has brought is skipped, so an import can be repeated.',
    request: {
      body: uploadBody(shapes.CreateImport, ['file', 'clicks'], {
        source: 'csv',
        file: EXAMPLE_FILE,
        mapping: { shortUrl: 'Short link', destinationUrl: 'Destination URL' },
      }),
    },
    responses: { 202: dataResponse(ImportShape, 'The import, which waits for its turn') },
    fails: [404],
  }),
  inspect: apiRoute({
    ...imports,
    method: 'post',
    path: '/imports/inspect',
    scope: 'links:write',
    shows: 'any',
    idempotent: false,
    takesUpload: true,
    operationId: 'inspectImport',
    summary: 'Look into a file before its import',
    description: 'Detects the tool, the columns and the hosts of a file. Nothing is stored.',
    request: { body: uploadBody(shapes.InspectImport, ['file'], { file: EXAMPLE_FILE }) },
    responses: { 200: dataResponse(shapes.InspectionShape, 'The kind of file') },
  }),
  submissions: apiRoute({
    tags: ['Submissions'],
    method: 'post',
    path: '/forms/{formKey}/submissions/import',
    scope: 'submissions:write',
    idempotent: false,
    takesUpload: true,
    operationId: 'importSubmissions',
    summary: 'Import the submissions of another form service into a form',
    description:
      'An export of Formspree, Netlify Forms, Basin, Web3Forms, Getform or another service, as CSV or JSON: a multipart form ' +
      'with a file of up to 64 MiB, or JSON of up to 1 MiB. Known columns are the time, the id, the address and agent of the ' +
      'sender, the page, the referrer and the campaign; every other column is a field. Nobody is notified. A submission that ' +
      'an earlier import has brought is skipped. The answer waits some seconds for the end; `GET /imports/{id}` follows it.',
    request: {
      params: FormKeyParameter,
      body: uploadBody(shapes.ImportSubmissions, ['file'], { file: EXAMPLE_SUBMISSIONS }),
    },
    responses: { 202: dataResponse(ImportShape, 'The import in its current state') },
    fails: [404],
  }),
  get: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports/{id}',
    scope: 'links:read',
    operationId: 'getImport',
    summary: 'Get an import',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ImportShape, 'The import in its current state') },
    fails: [404],
  }),
  rows: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports/{id}/rows',
    scope: 'links:read',
    operationId: 'listImportRows',
    summary: 'List the rows of an import with their results',
    description: 'For 30 days.',
    request: { params: IdParameter, query: shapes.ImportRowsQuery },
    responses: { 200: pageResponse(shapes.ImportRowShape, 'A page of rows, in the order of the file') },
    fails: [404],
  }),
  errors: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports/{id}/errors',
    scope: 'links:read',
    operationId: 'exportImportErrors',
    summary: 'Export the errors of an import',
    request: { params: IdParameter },
    responses: {
      200: {
        description: 'All errors',
        headers: toFileNameHeader('File name with the id of the import'),
        content: { 'text/csv': toFileSchema('row,field,value,message') },
      },
    },
    fails: [404],
  }),
  delete: apiRoute({
    ...imports,
    method: 'delete',
    path: '/imports/{id}',
    scope: 'links:write',
    operationId: 'deleteImport',
    summary: 'Undo or cancel an import',
    description:
      'Within 30 days. Permanently deletes what the import created, except items that were changed since, which are listed as `kept`. ' +
      'A large undo continues after the answer: its stage is `undo` until the status is `undone`.',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ImportShape, 'The import') },
    fails: [404, 409],
  }),
}

export interface ImportsApiNeeds extends Omit<CreateNeeds, 'db'>, InspectNeeds, UploadNeeds {
  /** Resolves when an import or its undo has ended, and after a short while. */
  waitForEnd(actor: Actor, id: number, waitMs?: number): Promise<void>
}

interface ReceivedForm {
  files: readonly ('file' | 'clicks')[]
  action: Action
  /** True if the upload becomes an import. */
  isImport: boolean
}

/** Uploads of requests that are being answered. */
const uploads = new WeakMap<Request, Upload>()

/** Writes the files of a form to the disk, so that the next gates see a JSON body. */
function receiveForm(
  needs: ImportsApiNeeds,
  { files, action, isImport }: ReceivedForm,
): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (c.req.method !== 'POST' || !isMultipartForm(c.req.header('content-type'))) return next()
    const actor = c.get('actor')
    allow(actor, action)
    if (isImport) await requireFreeImportSlot(c.get('db').read, actor)
    const { raw } = c.req
    const upload = await receiveUpload(
      {
        ...needs,
        fileFields: files,
        workspaceId: actor.workspaceId,
        isLargeSource: (source) => files.includes('clicks') && isWorkspaceSource(actor, source),
      },
      raw,
    )
    uploads.set(raw, upload)
    try {
      const placeholders = Object.fromEntries(Object.keys(upload.files).map((field) => [field, '']))
      c.req.bodyCache.text = Promise.resolve(JSON.stringify({ ...upload.fields, ...placeholders })) as never
      raw.headers.set('content-type', 'application/json')
      await next()
    } finally {
      await upload.directory.discard()
    }
  }
}

/** Checks the right before the first byte of a file is read. @throws Failure `forbidden` */
function isWorkspaceSource(actor: Actor, source: unknown): boolean {
  if (source !== 'towpath') return false
  requireFullAccess(actor)
  return true
}

/** Passes the files of a form, or those of the JSON body, to `use`, and afterwards deletes unused ones. */
async function withUpload<T>(
  needs: ImportsApiNeeds,
  c: Context<ApiEnv>,
  { file, clicks }: { file?: unknown; clicks?: unknown },
  use: (upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  const received = uploads.get(c.req.raw)
  if (received || (file === undefined && clicks === undefined)) return use(received)
  const upload = await storeContents(needs, c.get('actor').workspaceId, { file, clicks })
  // Does nothing if it has become an import, because then the directory has another name.
  return use(upload).finally(() => upload.directory.discard())
}

/** Enough time to import thousands of submissions. */
const SUBMISSIONS_WAIT_MS = 8_000

async function readImport(
  c: Context<ApiEnv>,
  id: number,
  actor: Pick<Actor, 'workspaceId' | 'scopes'> = c.get('actor'),
) {
  const { read } = c.get('db')
  return toImportResource(read, actor, await getImport(read, actor, id))
}

const addSubmissionImports = (needs: ImportsApiNeeds, api: ReturnType<typeof createApi>) =>
  api.openapi(routes.submissions, (c) => {
    const input = c.req.valid('json' as never) as shapes.ImportSubmissionsInput
    const actor = c.get('actor')
    allow(actor, 'forms:write')
    const { formKey } = c.req.valid('param')
    const withDb = { ...needs, db: c.get('db') }
    return withUpload(needs, c, { file: input.file }, async (upload) => {
      const { id } = await createSubmissionImport(withDb, actor, formKey, input, upload)
      await needs.waitForEnd(actor, id, SUBMISSIONS_WAIT_MS)
      // A key that may write but not read submissions can create this import too. It gets a part of the answer.
      return c.json({ data: await readImport(c, id, { workspaceId: actor.workspaceId }) }, 202)
    })
  })

export function createImportsApi(needs: ImportsApiNeeds) {
  const getNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  const api = createApi()
  const links = { action: 'links:write' } as const
  api.use('/imports', receiveForm(needs, { ...links, files: ['file', 'clicks'], isImport: true }))
  api.use('/imports/inspect', receiveForm(needs, { ...links, files: ['file'], isImport: false }))
  api.use(
    '/forms/:formKey/submissions/import',
    receiveForm(needs, { action: 'forms:write', files: ['file'], isImport: true }),
  )
  return addSubmissionImports(needs, api)
    .openapi(routes.list, async (c) =>
      c.json(await listImports(c.get('db'), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.inspect, (c) => {
      const input = c.req.valid('json' as never) as shapes.InspectImportInput
      return withUpload(needs, c, { file: input.file }, async (upload) => {
        const data = await inspectUpload(needs, c.get('actor'), input, upload, c.req.raw.signal)
        return c.json({ data }, 200)
      })
    })
    .openapi(routes.create, (c) => {
      const input = c.req.valid('json' as never) as shapes.CreateImportInput
      allow(c.get('actor'), 'links:write')
      return withUpload(needs, c, input, async (upload) =>
        c.json({ data: await createImport(getNeeds(c), c.get('actor'), input, upload) }, 202),
      )
    })
    .openapi(routes.get, async (c) =>
      c.json({ data: await readImport(c, parseId(c.req.valid('param').id)) }, 200),
    )
    .openapi(routes.rows, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json(await listImportRows(c.get('db'), c.get('actor'), id, c.req.valid('query')), 200)
    })
    .openapi(routes.errors, async (c) => {
      const { id } = await getImport(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
      const pieces = exportErrors(c.get('db'), c.get('actor'), id, c.req.raw.signal)
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES.csv,
        'Content-Disposition': `attachment; filename=import-${id}-errors.csv`,
      })
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      await deleteImport(getNeeds(c), c.get('actor'), id)
      await needs.waitForEnd(c.get('actor'), id)
      return c.json({ data: await readImport(c, id) }, 200)
    })
}
