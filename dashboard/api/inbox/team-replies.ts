// Replies of the team to the sender of a submission, over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type {
  CreateTeamReplyInput,
  TeamReplyResource,
} from '../../../server/features/forms/team-replies/schema.ts'
import type { Api } from '../client.ts'

export type { TeamReplyResource }

const POLL_MS = 2000

const toPath = (submissionId: number) => `/submissions/${submissionId}/replies`

export const teamRepliesQuery = (api: Api, submissionId: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'replies', submissionId],
    queryFn: ({ signal }) => api.get<TeamReplyResource[]>(toPath(submissionId), { signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'waiting') ? POLL_MS : false,
  })

/** @param key the same for every try of one reply, so that it leaves once */
export const sendTeamReply = (api: Api, submissionId: number, body: CreateTeamReplyInput, key: string) =>
  api.post<TeamReplyResource>(toPath(submissionId), body, { headers: { 'Idempotency-Key': key } })
