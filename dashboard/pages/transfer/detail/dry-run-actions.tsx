// The button after a dry run that imports the same files with the same settings.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ImportResource, importQuery, startFromDryRun } from '../../../api/transfer/imports.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { clearImportDraft } from '../new/import-draft.ts'

export function DryRunActions({ item }: { item: ImportResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/transfer/$importId' })
  const start = useMutation({
    mutationFn: () => startFromDryRun(api, item.id, { dryRun: false }),
    onSuccess(started) {
      client.setQueryData(importQuery(api, started.id).queryKey, started)
      clearImportDraft(api.workspaceId)
      return navigate({ params: { importId: String(started.id) }, search: {} })
    },
    onError() {},
  })
  return (
    <>
      {start.error && (
        <div className="basis-full">
          <FormError>{start.error.message}</FormError>
        </div>
      )}
      <Button variant="primary" busy={start.isPending} onClick={() => start.mutate()}>
        {item.created > 0 ? `Import ${formatNumber(item.created)}` : 'Import'}
      </Button>
    </>
  )
}
