// The replies of the team to the sender, oldest first, and whether each email has arrived.

import { useQuery } from '@tanstack/react-query'
import { type TeamReplyResource, teamRepliesQuery } from '../../../api/inbox/team-replies.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { formatTime } from '../../../ui/format.ts'

const STATES: Record<TeamReplyResource['status'], { label: string; tone: 'neutral' | 'good' | 'bad' }> = {
  waiting: { label: 'Sending', tone: 'neutral' },
  delivered: { label: 'Sent', tone: 'good' },
  failed: { label: 'Not sent', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'bad' },
}

export function TeamReplies({ submission }: { submission: Submission }) {
  const { data: replies = [] } = useQuery({
    ...teamRepliesQuery(useApi(), submission.id),
    enabled: submission.email !== null,
  })
  if (replies.length === 0) return null
  return (
    <section aria-label="Replies" className="grid gap-3">
      <h3 className="text-sm font-medium">Replies</h3>
      <ol className="grid gap-3">
        {replies.map((reply) => (
          <ReplyItem key={reply.id} reply={reply} />
        ))}
      </ol>
    </section>
  )
}

function ReplyItem({ reply }: { reply: TeamReplyResource }) {
  const state = STATES[reply.status]
  return (
    <li className="grid gap-2 rounded-2xl border border-line bg-card p-4 sm:p-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="font-medium">{reply.author ?? 'API'}</span>
        <time dateTime={reply.createdAt} className="text-soft">
          {formatTime(reply.createdAt)}
        </time>
        <Badge tone={state.tone}>{state.label}</Badge>
      </div>
      <p className="font-medium break-words">{reply.subject}</p>
      <p className="break-words whitespace-pre-wrap">{reply.text}</p>
      {reply.status === 'failed' && reply.error && (
        <p className="text-sm break-words text-danger">{reply.error}</p>
      )}
    </li>
  )
}
