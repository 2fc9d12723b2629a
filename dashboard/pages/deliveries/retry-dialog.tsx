// After an outage: everything that has failed for good since a moment, once more.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { retryFailed } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ChannelSelect } from './channel-select.tsx'

const HOUR_MS = 3_600_000
const SINCE = [
  { hours: 1, label: 'In the last hour' },
  { hours: 24, label: 'In the last 24 hours' },
  { hours: 24 * 7, label: 'In the last 7 days' },
  { hours: 24 * 30, label: 'In the last 30 days' },
]

export function RetryDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const [hours, setHours] = useState(24)
  const [channelId, setChannelId] = useState<number>()
  const retry = useMutation({
    mutationFn: () => retryFailed(api, new Date(Date.now() - hours * HOUR_MS).toISOString(), channelId),
    onSuccess({ retried }) {
      toast(
        retried === 0
          ? 'Nothing has failed in that time'
          : `${formatCount(retried, 'delivery', 'deliveries')} sent again`,
      )
      onClose()
      return client.invalidateQueries({ queryKey: [api.workspaceId, 'deliveries'] })
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Retry what failed"
      description="Each begins anew, under the same id: a receiver can tell that it has seen one."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={retry.isPending} onClick={() => retry.mutate()}>
            Retry
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <Field label="What failed">
          {(control) => (
            <Select {...control} value={hours} onChange={(event) => setHours(Number(event.target.value))}>
              {SINCE.map((one) => (
                <option key={one.hours} value={one.hours}>
                  {one.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Channel">
          {(control) => (
            <ChannelSelect
              {...control}
              value={channelId ?? ''}
              onChange={(event) => setChannelId(Number(event.target.value) || undefined)}
            />
          )}
        </Field>
      </div>
    </Dialog>
  )
}
