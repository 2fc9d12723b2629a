// The dialog that retries all failed deliveries of a period, for example after an outage.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { retryFailed } from '../../api/deliveries.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { formatCount } from '../../ui/format.ts'
import { Field, SelectField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ChannelSelect } from './channel-select.tsx'

const HOUR_MS = 3_600_000
const PERIODS = [
  { hours: 1, label: 'Last hour' },
  { hours: 24, label: 'Last 24 hours' },
  { hours: 24 * 7, label: 'Last 7 days' },
  { hours: 24 * 30, label: 'Last 30 days' },
]

export function RetryDialog({ onClose, onRetried }: { onClose: () => void; onRetried: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const [hours, setHours] = useState(24)
  const [channelId, setChannelId] = useState<number>()
  const retry = useMutation({
    mutationFn: () => retryFailed(api, new Date(Date.now() - hours * HOUR_MS).toISOString(), channelId),
    onSuccess({ retried }) {
      toast(
        retried === 0
          ? 'No failed deliveries in this period'
          : `${formatCount(retried, 'delivery', 'deliveries')} will be sent again`,
      )
      onClose()
      onRetried()
      return client.invalidateQueries({ queryKey: [api.workspaceId, 'deliveries'] })
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Retry failed deliveries"
      description="Each delivery keeps its message ID, so receivers can recognize duplicates."
      action="Retry"
      busy={retry.isPending}
      onSubmit={() => retry.mutate()}
    >
      <SelectField
        label="Period"
        value={hours}
        onChange={(event) => setHours(Number(event.target.value))}
        options={PERIODS.map((period) => [period.hours, period.label])}
      />
      <Field label="Channel">
        {(control) => (
          <ChannelSelect
            {...control}
            value={channelId ?? ''}
            onChange={(event) => setChannelId(Number(event.target.value) || undefined)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
