// Exports of links and of whole workspaces over the REST API.

import { type Api, ApiError, type QueryParameters, readFileName } from '../client.ts'

export const LINK_EXPORT_FORMATS = {
  csv: 'CSV, for spreadsheets',
  ndjson: 'NDJSON, one JSON object per line',
}
export type LinkExportFormat = keyof typeof LINK_EXPORT_FORMATS

interface ExportOptions {
  signal: AbortSignal
  onBytes: (bytes: number) => void
}

export const exportLinks = (api: Api, format: LinkExportFormat, options: ExportOptions) =>
  fetchExport(api, '/links/export', { format }, options)
export const exportWorkspace = (api: Api, options: ExportOptions) => fetchExport(api, '/export', {}, options)

/** The browser keeps a large file on its disk. */
async function fetchExport(
  api: Api,
  path: string,
  query: QueryParameters,
  { signal, onBytes }: ExportOptions,
) {
  const response = await api.raw(path, { query, signal, isBackground: false })
  let bytes = 0
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        onBytes(bytes)
        controller.enqueue(chunk)
      },
    }),
  )
  try {
    return { file: await new Response(counted).blob(), name: readFileName(response) }
  } catch (error) {
    if (signal.aborted) throw error
    throw new ApiError(0, 'The download was interrupted. Check your connection and try again.')
  }
}
