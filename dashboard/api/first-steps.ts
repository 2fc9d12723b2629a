// How far a new workspace has come: each step is read from the data, nobody ticks anything.

import { queryOptions } from '@tanstack/react-query'
import type { WorkspaceResource } from '../../server/features/accounts/schema.ts'
import type { FormResource } from '../../server/features/forms/schema.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'
import type { Api } from './client.ts'

export interface FirstSteps {
  /** The one to open: the newest while none was clicked. */
  link: LinkResource | null
  clicked: boolean
  /** The one to send. */
  form: FormResource | null
  sent: boolean
}

export const isBegun = ({ link, clicked, form, sent }: FirstSteps) =>
  link !== null && clicked && form !== null && sent

const POLL_MS = 2000

export const firstStepsQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'workspace', 'first-steps'],
    queryFn: async ({ signal }): Promise<FirstSteps> => {
      const [workspace, links, forms] = await Promise.all([
        api.get<WorkspaceResource>('/workspace', { signal }),
        api.page<LinkResource>('/links', { query: { sort: 'clicks', archived: 'all', limit: 1 }, signal }),
        api.page<FormResource>('/forms', { query: { limit: 1 }, signal }),
      ])
      const link = links.data[0] ?? null
      return {
        link,
        clicked: (link?.clicks ?? 0) > 0,
        form: forms.data[0] ?? null,
        sent: workspace.submissions > 0,
      }
    },
    refetchInterval: ({ state }) => (state.data && isBegun(state.data) ? false : POLL_MS),
  })
