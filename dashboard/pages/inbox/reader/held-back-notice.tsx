// Notice on a submission that was not announced, because it is spam or unconfirmed. Has the buttons to change that.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { BadgeCheck, Inbox, UserCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { allowSender } from '../../../api/inbox/allowed-senders.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatDay } from '../../../ui/format.ts'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { InboxActions } from '../state/use-inbox-actions.ts'

/** docs/contract.md §13: a submission that nobody confirms is erased after this number of days. */
const UNCONFIRMED_DAYS = 7
const DAY_MS = 86_400_000

interface Props {
  submission: Submission
  actions: InboxActions
}

export function HeldBackNotice({ submission, actions }: Props) {
  if (submission.status === 'spam') return <SpamNotice submission={submission} actions={actions} />
  if (submission.status === 'unconfirmed')
    return <UnconfirmedNotice submission={submission} actions={actions} />
  return null
}

function Notice({ title, children, buttons }: { title: string; children: ReactNode; buttons: ReactNode }) {
  const canEdit = useCanEdit()
  return (
    <section aria-label={title} className="grid gap-2 rounded-2xl bg-warn-tint px-4 py-3 text-sm">
      <h3 className="font-semibold">{title}</h3>
      {children}
      {canEdit && <div className="flex flex-wrap gap-2 pt-1">{buttons}</div>}
    </section>
  )
}

function SpamNotice({ submission, actions }: Props) {
  const { spamReasons } = submission
  return (
    <Notice
      title="Why this is spam"
      buttons={
        <>
          <Button
            size="small"
            icon={<Inbox size={15} />}
            onClick={() => actions.setStatus([submission], 'new')}
          >
            Not spam
          </Button>
          <AllowSenderButton submission={submission} actions={actions} />
        </>
      }
    >
      {spamReasons.length > 0 ? (
        <>
          <ul className="grid list-disc gap-1 pl-5">
            {spamReasons.map((reason) => (
              <li key={reason} className="break-words">
                {reason}
              </li>
            ))}
          </ul>
          <p>
            It was held back: your team wasn’t notified, and it counts as no lead. “Not spam” restores it and
            sends the notifications.
          </p>
        </>
      ) : (
        <p>Someone on your team marked it as spam.</p>
      )}
    </Notice>
  )
}

/** Restores a submission from spam, and lets its sender never be spam again. */
function AllowSenderButton({ submission, actions }: { submission: Submission; actions: InboxActions }) {
  const api = useApi()
  const client = useQueryClient()
  const { email } = submission
  const allow = useMutation({
    mutationFn: (address: string) => allowSender(api, address),
    onSuccess({ address }) {
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'allowed senders'] })
      toast(`Submissions from ${address} are never spam from now on`)
      actions.setStatus([submission], 'new')
    },
  })
  if (!email) return null
  return (
    <Button
      size="small"
      icon={<UserCheck size={15} />}
      title={email}
      busy={allow.isPending}
      onClick={() => allow.mutate(email)}
    >
      Always allow this sender
    </Button>
  )
}

const UnconfirmedNotice = ({ submission, actions }: Props) => (
  <Notice
    title="Not confirmed"
    buttons={
      <Button
        size="small"
        icon={<BadgeCheck size={15} />}
        onClick={() => actions.setStatus([submission], 'new')}
      >
        Confirm manually
      </Button>
    }
  >
    <p>
      The sender hasn’t pressed the button that the email leads to. Until then it is held back: your team is
      not notified, and it counts as no lead. It is erased on{' '}
      {formatDay(new Date(Date.parse(submission.createdAt) + UNCONFIRMED_DAYS * DAY_MS).toISOString())}.
    </p>
  </Notice>
)
