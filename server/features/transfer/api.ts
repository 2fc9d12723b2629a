// The REST API of imports (docs/contract.md §11).

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
import { toTextStream } from '../../http/text-stream.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { type CreateNeeds, createImport, requireFullAccess, requireTurn } from './import/create-import.ts'
import { deleteImport } from './import/delete-import.ts'
import { exportErrors, getImport, listImportRows, listImports } from './import/find-imports.ts'
import { toImportResource } from './import/import-row.ts'
import { type InspectNeeds, inspectUpload } from './import/inspect-upload.ts'
import { receiveUpload, storeContents, type Upload, type UploadNeeds } from './import/receive-upload.ts'
import * as shapes from './schema.ts'

const imports = { tags: ['Import and export'] }
const { ImportShape } = shapes

/** The body as a form. Its fields have the same names; those that are no texts are written as JSON. */
const formBody = (files: string[], fields: string[]) => ({
  'multipart/form-data': {
    schema: {
      type: 'object' as const,
      properties: Object.fromEntries([
        ...fields.map((name) => [name, { type: 'string' as const }]),
        ...files.map((name) => [name, { type: 'string' as const, format: 'binary' }]),
      ]),
    },
  },
})

const FORM_FIELDS = Object.keys(shapes.CreateImport.shape).filter(
  (name) => !['file', 'clicks'].includes(name),
)

const EXAMPLE_FILE = 'Short link,Destination URL\nhttps://bit.ly/spring,https://example.com/spring\n'

const withForm = <T extends ReturnType<typeof jsonRequestBody>>(
  body: T,
  files: string[],
  fields: string[],
) => ({
  ...body,
  content: { ...body.content, ...formBody(files, fields) },
})

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
      body: withForm(
        jsonRequestBody(shapes.CreateImport, {
          source: 'csv',
          file: EXAMPLE_FILE,
          mapping: { shortUrl: 'Short link', destinationUrl: 'Destination URL' },
        }) as never,
        ['file', 'clicks'],
        FORM_FIELDS,
      ) as never,
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
    description: 'Says which tool a file is from, its columns and its hosts. Nothing is stored.',
    request: {
      body: withForm(
        jsonRequestBody(shapes.InspectImport, { file: EXAMPLE_FILE }) as never,
        ['file'],
        ['mapping', 'dateOrder', 'timeZone'],
      ) as never,
    },
    responses: { 200: dataResponse(shapes.InspectionShape, 'The kind of file') },
  }),
  get: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports/{id}',
    scope: 'links:read',
    operationId: 'getImport',
    summary: 'Get an import',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ImportShape, 'The import, as far as it is') },
    fails: [404],
  }),
  rows: apiRoute({
    ...imports,
    method: 'get',
    path: '/imports/{id}/rows',
    scope: 'links:read',
    operationId: 'listImportRows',
    summary: 'List what the rows of an import became',
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
      'Within 30 days. What it has created and nobody has changed since is deleted for good; the rest is listed as `kept`. ' +
      'A large undo goes on after the answer: its stage is `undo` until the status is `undone`.',
    request: { params: IdParameter },
    responses: { 200: dataResponse(ImportShape, 'The import') },
    fails: [404, 409],
  }),
}

export interface ImportsApiNeeds extends Omit<CreateNeeds, 'db'>, InspectNeeds, UploadNeeds {
  /** Resolves when an undo is done, and after a short while. */
  waitForUndo(actor: Actor, id: number): Promise<void>
}

type FileFields = readonly ('file' | 'clicks')[]

/** Uploads of requests that are being answered. */
const uploads = new WeakMap<Request, Upload>()

/** Takes the files of a form to the disk, so that the gates after it see a JSON body. */
function receiveForm(needs: ImportsApiNeeds, fileFields: FileFields): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (c.req.method !== 'POST' || !isMultipartForm(c.req.header('content-type'))) return next()
    const actor = c.get('actor')
    allow(actor, 'links:write')
    const isImport = fileFields.includes('clicks')
    if (isImport) await requireTurn(c.get('db').read, actor)
    const { raw } = c.req
    const upload = await receiveUpload(
      {
        ...needs,
        fileFields,
        workspaceId: actor.workspaceId,
        isLargeSource: (source) => isImport && isWorkspaceSource(actor, source),
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

/** Rights are judged before the first byte of a file is taken. @throws Failure `forbidden` */
function isWorkspaceSource(actor: Actor, source: unknown): boolean {
  if (source !== 'towpath') return false
  requireFullAccess(actor)
  return true
}

/** The files of a form, or those of the JSON body. Without any there is nothing to store. */
async function getUpload(
  needs: ImportsApiNeeds,
  c: Context<ApiEnv>,
  contents: { file?: unknown; clicks?: unknown },
): Promise<Upload | undefined> {
  const received = uploads.get(c.req.raw)
  if (received) return received
  if (contents.file === undefined && contents.clicks === undefined) return undefined
  return storeContents(needs, c.get('actor').workspaceId, contents)
}

export function createImportsApi(needs: ImportsApiNeeds) {
  const getNeeds = (c: Context<ApiEnv>) => ({ ...needs, db: c.get('db') })
  const readImport = async (c: Context<ApiEnv>, id: number) => {
    const { read } = c.get('db')
    return toImportResource(read, c.get('actor'), await getImport(read, c.get('actor'), id))
  }
  const api = createApi()
  api.use('/imports', receiveForm(needs, ['file', 'clicks']))
  api.use('/imports/inspect', receiveForm(needs, ['file']))
  return api
    .openapi(routes.list, async (c) =>
      c.json(await listImports(c.get('db'), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.inspect, async (c) => {
      const input = c.req.valid('json' as never) as shapes.InspectImportInput
      const upload = await getUpload(needs, c, { file: input.file })
      try {
        return c.json(
          { data: await inspectUpload(needs, c.get('actor'), input, upload, c.req.raw.signal) },
          200,
        )
      } finally {
        await upload?.directory.discard()
      }
    })
    .openapi(routes.create, async (c) => {
      const input = c.req.valid('json' as never) as shapes.CreateImportInput
      allow(c.get('actor'), 'links:write')
      const upload = await getUpload(needs, c, { file: input.file, clicks: input.clicks })
      try {
        return c.json({ data: await createImport(getNeeds(c), c.get('actor'), input, upload) }, 202)
      } finally {
        // Its name is another one by now, unless the import was refused.
        await upload?.directory.discard()
      }
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
      const isHead = c.req.method === 'HEAD'
      return c.body((isHead ? null : toTextStream(pieces, c.get('requestId'))) as never, 200, {
        'Content-Type': EXPORT_MEDIA_TYPES.csv,
        'Content-Disposition': `attachment; filename=import-${id}-errors.csv`,
      }) as never
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      await deleteImport(getNeeds(c), c.get('actor'), id)
      await needs.waitForUndo(c.get('actor'), id)
      return c.json({ data: await readImport(c, id) }, 200)
    })
}
