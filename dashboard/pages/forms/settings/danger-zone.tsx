// Deletes a form and its submissions, after its name was typed.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../../server/features/forms/schema.ts'
import { deleteForm, formQuery } from '../../../api/forms.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'

export function DangerZone({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  async function remove() {
    await deleteForm(api, form.formKey)
    await navigate({
      to: '/$workspaceId/forms',
      params: { workspaceId: String(api.workspaceId) },
      search: {},
    })
    client.removeQueries({ queryKey: formQuery(api, form.formKey).queryKey })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
    toast(`${form.name} deleted`)
  }
  return (
    <section className="rounded-2xl border border-danger bg-card p-4 sm:p-5">
      <h2 className="font-semibold">Delete this form</h2>
      <p className="mt-1 mb-4 text-soft">
        Deletes the form and {formatCount(form.submissions, 'submission')} permanently. Pages that still post
        to it get “Form not found”. To keep the submissions, turn off “Accept submissions” instead.
      </p>
      <Button variant="danger" icon={<Trash2 size={16} />} onClick={() => setConfirming(true)}>
        Delete form
      </Button>
      {isConfirming && (
        <ConfirmDialog
          open
          onClose={() => setConfirming(false)}
          title={`Delete ${form.name}?`}
          action="Delete permanently"
          mustType={form.name}
          onConfirm={remove}
        >
          <p>
            This deletes{formatCount(form.submissions, 'submission')} and their attribution. You cannot undo
            this.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}
