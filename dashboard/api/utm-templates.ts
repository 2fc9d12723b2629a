// UTM templates over the REST API.

import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { UtmTemplateResource } from '../../server/features/links/utm-templates/schema.ts'
import type { Api } from './client.ts'
import { readList } from './pages.ts'

export type { UtmTemplateResource }
export type UtmTemplateInput = Partial<Omit<UtmTemplateResource, 'id' | 'createdAt' | 'updatedAt'>>

/** All templates, sorted by name. A workspace has at most two pages of them. */
export const utmTemplatesQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'utm-templates'],
    async queryFn({ signal }) {
      const templates = await Array.fromAsync(
        readList<UtmTemplateResource>(api, '/utm-templates', { signal }),
      )
      return templates.sort((a, b) => a.name.localeCompare(b.name))
    },
    staleTime: 30_000,
  })

export const createUtmTemplate = (api: Api, input: UtmTemplateInput) =>
  api.post<UtmTemplateResource>('/utm-templates', input)
export const updateUtmTemplate = (api: Api, id: number, input: UtmTemplateInput) =>
  api.patch<UtmTemplateResource>(`/utm-templates/${id}`, input)
export const deleteUtmTemplate = (api: Api, id: number) =>
  api.remove<UtmTemplateResource>(`/utm-templates/${id}`, { keepalive: true })

export const invalidateUtmTemplates = (client: QueryClient, api: Api) =>
  client.invalidateQueries({ queryKey: utmTemplatesQuery(api).queryKey })
