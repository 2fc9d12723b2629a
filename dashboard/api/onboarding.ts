// The progress of a new workspace. Each step is derived from its data.

import { queryOptions } from '@tanstack/react-query'
import type { FormResource } from '../../server/features/forms/schema.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'
import type { Api } from './client.ts'

export interface OnboardingProgress {
  /** The link with the most clicks; the newest one while no link has clicks. */
  link: LinkResource | null
  clicked: boolean
  /** The newest form. */
  form: FormResource | null
  sent: boolean
}

export const isOnboarded = ({ link, clicked, form, sent }: OnboardingProgress) =>
  link !== null && clicked && form !== null && sent

const POLL_MS = 2000

async function fetchLinkProgress(
  api: Api,
  signal: AbortSignal,
): Promise<Pick<OnboardingProgress, 'link' | 'clicked'>> {
  const query = { sort: 'clicks', archived: 'all', limit: 1 }
  const [link = null] = (await api.page<LinkResource>('/links', { query, signal })).data
  if (!link || link.clicks > 0) return { link, clicked: link !== null }
  // The person who tries the link is signed in, so this click is internal and in no counter.
  const own = { linkId: link.id, class: 'internal' }
  const { clicks } = await api.get<{ clicks: number }>('/analytics/clicks', { query: own, signal })
  return { link, clicked: clicks > 0 }
}

async function fetchFormProgress(
  api: Api,
  signal: AbortSignal,
): Promise<Pick<OnboardingProgress, 'form' | 'sent'>> {
  const query = { limit: 1 }
  const [forms, submissions] = await Promise.all([
    api.page<FormResource>('/forms', { query, signal }),
    api.page<unknown>('/submissions', { query, signal }),
  ])
  return { form: forms.data[0] ?? null, sent: submissions.total > 0 }
}

/** Finished steps are not loaded again: in a large workspace, each of these queries counts rows. */
export const onboardingQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'workspace', 'first-steps'],
    queryFn: async ({ signal, client, queryKey }): Promise<OnboardingProgress> => {
      const previous = client.getQueryData<OnboardingProgress>(queryKey)
      const [link, form] = await Promise.all([
        previous?.clicked ? previous : fetchLinkProgress(api, signal),
        previous?.sent ? previous : fetchFormProgress(api, signal),
      ])
      return { link: link.link, clicked: link.clicked, form: form.form, sent: form.sent }
    },
    refetchInterval: ({ state }) => (state.data && isOnboarded(state.data) ? false : POLL_MS),
  })

/** Stored hits that do not count as clicks of people. */
interface UncountedHits {
  class: 'bot' | 'prefetch' | 'head'
  clicks: number
}

const UNCOUNTED_POLL_MS = 4000

/** The reason that a visited link shows no clicks. */
export const uncountedHitsQuery = (api: Api, linkId: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'workspace', 'uncounted', linkId],
    queryFn: ({ signal }) =>
      api.get<UncountedHits[]>('/analytics/clicks', {
        query: { linkId, class: 'bot,prefetch,head', groupBy: 'class' },
        signal,
      }),
    refetchInterval: UNCOUNTED_POLL_MS,
  })
