// The drawer of one delivery: its attempts, and a button for another attempt.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { deliveryQuery, retryDelivery } from '../../api/deliveries.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { AttemptList } from './attempt-list.tsx'

const REFRESH_MS = 2000

export function DeliveryDrawer({ id, onClose }: { id: number; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const delivery = useQuery({
    ...deliveryQuery(api, id),
    refetchInterval: ({ state }) => (state.data?.status === 'waiting' ? REFRESH_MS : false),
  })
  const retry = useMutation({
    mutationFn: () => retryDelivery(api, id),
    onSuccess(changed) {
      client.setQueryData(deliveryQuery(api, id).queryKey, changed)
      toast('Delivery is being sent again')
      return client.invalidateQueries({ queryKey: [api.workspaceId, 'deliveries'] })
    },
  })
  const { data } = delivery
  const canEdit = useCanEdit()
  return (
    <Dialog
      drawer
      open
      onClose={onClose}
      title={`Delivery ${id}`}
      description={data && <code className="break-all">{data.messageId}</code>}
      footer={
        <>
          {data?.submissionId && (
            <ButtonLink
              to="/$workspaceId/inbox"
              params={{ workspaceId: String(api.workspaceId) }}
              search={{ open: String(data.submissionId) }}
            >
              Open submission
            </ButtonLink>
          )}
          {canEdit && (
            <Button
              variant="primary"
              icon={<RotateCw size={15} />}
              disabled={!data || data.event === 'test'}
              busy={retry.isPending}
              onClick={() => retry.mutate()}
            >
              {data?.status === 'delivered' ? 'Send again' : 'Retry now'}
            </Button>
          )}
        </>
      }
    >
      {delivery.isPending && <SkeletonRows rows={3} />}
      {delivery.isError && <ErrorState error={delivery.error} retry={delivery.refetch} />}
      {data && <AttemptList attempts={data.attempts} />}
    </Dialog>
  )
}
