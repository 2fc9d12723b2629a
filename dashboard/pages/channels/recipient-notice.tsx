// A notice about recipients who get no emails: they have not confirmed, or they have unsubscribed.

import { useMutation } from '@tanstack/react-query'
import { askRecipients } from '../../api/channels/change-channel.ts'
import type { ChannelResource } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

export function RecipientNotice({ channel }: { channel: ChannelResource }) {
  const api = useApi()
  const ask = useMutation({
    mutationFn: () => askRecipients(api, channel.id),
    onSuccess: ({ mailed }) => toast(mailed === 0 ? 'No email could be sent' : 'The link was sent again'),
  })
  const { unconfirmed, stopped } = channel
  return (
    <>
      {unconfirmed.length > 0 && (
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <p className="min-w-0 break-words text-warn">
            Waiting for confirmation: {unconfirmed.join(', ')}. They get no notifications before they follow
            the link that was sent to them.
          </p>
          <Button size="small" busy={ask.isPending} onClick={() => ask.mutate()}>
            Send again
          </Button>
        </div>
      )}
      {stopped.length > 0 && (
        <p className="mt-1 text-sm break-words text-soft">
          Stopped by the recipient: {stopped.join(', ')}. They can switch the emails on again with the link in
          an earlier one.
        </p>
      )}
    </>
  )
}
