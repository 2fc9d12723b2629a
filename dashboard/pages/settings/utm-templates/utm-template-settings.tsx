// The UTM templates of the workspace: create, edit, delete.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Megaphone, Plus } from 'lucide-react'
import { useState } from 'react'
import {
  deleteUtmTemplate,
  invalidateUtmTemplates,
  type UtmTemplateResource,
  utmTemplatesQuery,
} from '../../../api/utm-templates.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { usePendingDeletions, useUndoableDelete } from '../../../ui/overlays/use-undoable-delete.ts'
import { QueryState } from '../../../ui/query-state.tsx'
import { UTM_PARAMETERS } from '../../links/editor/destination-url.ts'
import { SettingsHeading } from '../settings-heading.tsx'

const UtmTemplateDialog = lazyPart(() => import('./utm-template-dialog.tsx'), 'UtmTemplateDialog')

const toDeletionKey = ({ id }: UtmTemplateResource) => `utm-template ${id}`

export function UtmTemplateSettings() {
  const api = useApi()
  const canEdit = useCanEdit()
  const templates = useQuery(utmTemplatesQuery(api))
  const pendingDeletions = usePendingDeletions()
  const [editing, edit] = useState<UtmTemplateResource | 'new'>()
  const shown = (templates.data ?? []).filter((template) => !pendingDeletions.has(toDeletionKey(template)))
  const createButton = canEdit && (
    <Button variant="primary" icon={<Plus size={16} />} onClick={() => edit('new')}>
      New template
    </Button>
  )
  return (
    <>
      <SettingsHeading
        title="UTM templates"
        description="A template is a named set of UTM values. Choose one in the link editor to fill its UTM fields."
        actions={shown.length > 0 && createButton}
      />
      <QueryState query={templates} rows={2} className="h-12" />
      {templates.data && shown.length === 0 && (
        <EmptyState icon={Megaphone} title="No UTM templates yet" action={createButton}>
          With a template for each campaign, everybody writes its source and medium the same way.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Card>
          <ul aria-label="UTM templates" className="-my-3 divide-y divide-line">
            {shown.map((template) => (
              <TemplateRow
                key={template.id}
                template={template}
                canEdit={canEdit}
                edit={() => edit(template)}
              />
            ))}
          </ul>
        </Card>
      )}
      {editing && (
        <UtmTemplateDialog
          template={editing === 'new' ? undefined : editing}
          onClose={() => edit(undefined)}
        />
      )}
    </>
  )
}

interface RowProps {
  template: UtmTemplateResource
  canEdit: boolean
  edit: () => void
}

function TemplateRow({ template, canEdit, edit }: RowProps) {
  const api = useApi()
  const client = useQueryClient()
  const deleteUndoably = useUndoableDelete()
  const remove = () =>
    deleteUndoably({
      key: toDeletionKey(template),
      message: `“${template.name}” deleted`,
      async remove() {
        await deleteUtmTemplate(api, template.id)
        await invalidateUtmTemplates(client, api)
      },
      invalidates: [],
    })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="truncate font-medium">{template.name}</p>
        <p className="truncate text-sm text-soft">
          {UTM_PARAMETERS.flatMap(({ field, name }) =>
            template[field] === null ? [] : [`${name}=${template[field]}`],
          ).join(' · ')}
        </p>
      </div>
      {canEdit && (
        <>
          <Button size="small" onClick={edit} aria-label={`Edit ${template.name}`}>
            Edit
          </Button>
          <Button size="small" onClick={remove} aria-label={`Delete ${template.name}`}>
            Delete
          </Button>
        </>
      )}
    </li>
  )
}
