// The assignee of the open submission, and the stage of its lead: two choices that are saved at once.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type OutcomeStage, outcomesQuery, setOutcome } from '../../../api/inbox/outcomes.ts'
import { type Submission, updateSubmission } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { ASSIGNEE_ID, STAGE_ID } from '../state/element-ids.ts'
import { LEAD_STAGE_LABELS, STAGE_LABELS } from '../state/outcome-stages.ts'
import { isHeldBack } from '../state/submission-status.ts'
import { useMembers } from '../state/use-members.ts'
import { updateLoadedSubmissions } from '../state/use-submission-changes.ts'
import { useOutcomeRefresh } from './use-outcome-refresh.ts'

export function LeadBar({ submission }: { submission: Submission }) {
  const canEdit = useCanEdit()
  const isLead = !isHeldBack(submission.status) && submission.duplicateOf === null
  return (
    <div className="grid max-w-lg grid-cols-2 gap-3">
      <div id={ASSIGNEE_ID}>
        <AssigneeChoice submission={submission} canEdit={canEdit} />
      </div>
      {isLead && (
        <div id={STAGE_ID}>
          <StageChoice submission={submission} canEdit={canEdit} />
        </div>
      )}
    </div>
  )
}

interface ChoiceProps {
  submission: Submission
  canEdit: boolean
}

function AssigneeChoice({ submission, canEdit }: ChoiceProps) {
  const api = useApi()
  const client = useQueryClient()
  const members = useMembers()
  const { id, assigneeId } = submission
  const assign = useMutation({
    mutationFn: (next: number | null) => updateSubmission(api, id, { assigneeId: next }),
    onMutate: (next) => updateLoadedSubmissions(client, api, new Map([[id, { assigneeId: next }]])),
    onError(error) {
      updateLoadedSubmissions(client, api, new Map([[id, { assigneeId }]]))
      toastError(error, 'Couldn’t change the assignee')
    },
  })
  return (
    <SelectField
      label="Assignee"
      value={assigneeId ?? ''}
      disabled={!canEdit}
      onChange={({ target }) => assign.mutate(target.value === '' ? null : Number(target.value))}
      options={members.map(({ id: memberId, name }) => [memberId, name])}
    >
      <option value="">Nobody</option>
    </SelectField>
  )
}

function StageChoice({ submission, canEdit }: ChoiceProps) {
  const api = useApi()
  const refresh = useOutcomeRefresh(submission.id)
  const { data: outcomes } = useQuery(outcomesQuery(api, submission.id))
  // The list of the API begins with the latest one.
  const stage = outcomes?.[0]?.stage ?? submission.outcomes.at(-1)?.stage ?? 'new'
  const change = useMutation({
    mutationFn: (next: OutcomeStage) =>
      setOutcome(api, { submissionId: submission.id, stage: next, value: null, currency: null }),
    onSuccess: refresh,
    onError: (error) => toastError(error, 'Couldn’t change the stage'),
  })
  return (
    <SelectField
      label="Stage"
      value={change.isPending ? change.variables : stage}
      disabled={!canEdit}
      onChange={({ target }) => target.value in STAGE_LABELS && change.mutate(target.value as OutcomeStage)}
      options={Object.entries(STAGE_LABELS)}
    >
      {/* An outcome is taken back below. */}
      {stage === 'new' && <option value="new">{LEAD_STAGE_LABELS.new}</option>}
    </SelectField>
  )
}
