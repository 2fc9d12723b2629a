// The files of submissions over the REST API: downloads and previews.

import { queryOptions } from '@tanstack/react-query'
import type { FileResource } from '../../../server/features/forms/uploads/schema.ts'
import type { Api } from '../client.ts'

export type { FileResource }

export const downloadFile = async (api: Api, { id, name }: FileResource) => ({
  ...(await api.file(`/files/${id}`)),
  // The header has other letters in place of those that are not in ASCII.
  name,
})

/** All files of a submission in one zip. */
export const downloadFiles = (api: Api, submissionId: number) =>
  api.file(`/submissions/${submissionId}/files`)

export interface FilePreview {
  kind: 'text' | 'none'
  /** The first part of a text. */
  text: string | null
  /** The file has more than `text`. */
  truncated: boolean
}

/** A preview is data in JSON, so that nothing in the file can run. */
export const filePreviewQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'file preview', id],
    queryFn: ({ signal }) => api.get<FilePreview>(`/files/${id}/preview`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })

/** The bytes of an image, for a small picture of it. */
export const fileImageQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'file image', id],
    queryFn: async ({ signal }) => (await api.raw(`/files/${id}`, { signal })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
