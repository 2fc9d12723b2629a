// The button that answers the sender: from the server where it can send email, else in the person's mail program.

import { useQuery } from '@tanstack/react-query'
import { Reply } from 'lucide-react'
import { useState } from 'react'
import { signInOptionsQuery } from '../../../api/session.ts'
import type { Submission } from '../../../api/submissions.ts'
import { Button } from '../../../ui/button.tsx'
import { formatTime } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { REPLY_ID } from '../state/element-ids.ts'
import { quoteMessage, toMailto, toReplySubject } from '../state/reply-text.ts'
import { isHeldBack } from '../state/submission-status.ts'

const ReplyDialog = lazyPart(() => import('../dialogs/reply-dialog.tsx'), 'default')

export function ReplyButton({ submission }: { submission: Submission }) {
  const [isOpen, setOpen] = useState(false)
  const { data: server } = useQuery(signInOptionsQuery)
  const { email, status } = submission
  if (email === null || status === 'spam') return null
  const look = { size: 'small', icon: <Reply size={16} />, id: REPLY_ID, title: 'Reply (m)' } as const
  if (server?.mail === false || isHeldBack(status)) {
    const text = quoteMessage(submission, formatTime(submission.createdAt))
    return (
      <Button {...look} onClick={() => location.assign(toMailto(email, toReplySubject(submission), text))}>
        Reply
      </Button>
    )
  }
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)}>
        Reply
      </Button>
      {isOpen && <ReplyDialog submission={submission} email={email} onClose={() => setOpen(false)} />}
    </>
  )
}
