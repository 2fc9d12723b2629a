// The REST API of replies of the team to senders (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, IdParameter, jsonRequestBody, parseId } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { getSubmission } from './submissions/get-submission.ts'
import type { SubmissionNeeds } from './submissions/submission.ts'
import { listTeamReplies } from './team-replies/list-team-replies.ts'
import { CreateTeamReply, TeamReplyShape } from './team-replies/schema.ts'
import { sendTeamReply, type TeamReplyNeeds } from './team-replies/send-team-reply.ts'

export interface TeamRepliesApiNeeds extends Omit<SubmissionNeeds, 'db'>, Omit<TeamReplyNeeds, 'db'> {}

const shared = {
  tags: ['Submissions'],
  path: '/submissions/{id}/replies',
}

const routes = {
  list: apiRoute({
    ...shared,
    method: 'get',
    scope: 'submissions:read',
    operationId: 'listReplies',
    summary: 'List the replies of the team to a sender, oldest first',
    request: { params: IdParameter },
    responses: { 200: dataResponse(z.array(TeamReplyShape), 'At most 100 replies') },
    fails: [404],
  }),
  create: apiRoute({
    ...shared,
    method: 'post',
    scope: 'submissions:write',
    operationId: 'sendReply',
    summary: 'Reply to a sender by email',
    description:
      'Sends an email to the address of the submission, from the brand of the workspace or the form, and keeps it with the ' +
      'submission. Answers go to the `replyTo` of the brand, else to the member. A workspace sends at most 60 replies an ' +
      'hour. 409 says why a reply is impossible.',
    request: {
      params: IdParameter,
      body: jsonRequestBody(CreateTeamReply, {
        subject: 'Re: your message',
        text: 'Thanks for your message. When may we call you?',
      }),
    },
    responses: { 201: dataResponse(TeamReplyShape, 'The reply, which waits to be sent') },
    fails: [404, 409],
  }),
}

export function createTeamRepliesApi(needs: TeamRepliesApiNeeds) {
  return createApi()
    .openapi(routes.list, async (c) => {
      const db = c.get('db')
      const actor = c.get('actor')
      const { id } = await getSubmission({ ...needs, db }, actor, parseId(c.req.valid('param').id))
      return c.json({ data: await listTeamReplies(db.read, actor, [id]) }, 200)
    })
    .openapi(routes.create, async (c) => {
      const id = parseId(c.req.valid('param').id)
      const data = await sendTeamReply({ ...needs, db: c.get('db') }, c.get('actor'), id, c.req.valid('json'))
      return c.json({ data }, 201)
    })
}
