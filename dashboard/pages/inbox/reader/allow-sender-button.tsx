// Restores a submission from spam, and lets its sender never be spam again.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { UserCheck } from 'lucide-react'
import { allowSender } from '../../../api/inbox/allowed-senders.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import type { InboxActions } from '../state/use-inbox-actions.ts'

export function AllowSenderButton({
  submission,
  actions,
}: {
  submission: Submission
  actions: InboxActions
}) {
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
