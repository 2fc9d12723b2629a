// The files of submissions over the REST API: downloads and previews.

import { queryOptions } from '@tanstack/react-query'
import type { FileResource } from '../../../server/features/forms/uploads/schema.ts'
import type { Api } from '../client.ts'

export type { FileResource }

export const downloadFile = async (api: Api, id: number): Promise<Blob> =>
  (await api.raw(`/files/${id}`, { isBackground: false })).blob()

/** All files of a submission in one zip. */
export const downloadFiles = async (api: Api, submissionId: number): Promise<Blob> =>
  (await api.raw(`/submissions/${submissionId}/files`, { isBackground: false })).blob()

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
