// The comparison with another tool's counts over the REST API.

import type { ReconcileInput, Reconciliation } from '../../server/features/reconcile/schema.ts'
import type { Api } from './client.ts'

export type { ReconciledDay, Reconciliation } from '../../server/features/reconcile/schema.ts'

/** The API takes a body of 1 MiB. */
export const COMPARED_BYTES_MAX = 900_000

export type ReconcileFields = Pick<
  ReconcileInput,
  'csv' | 'timezone' | 'theirTimezone' | 'metric' | 'dateOrder'
>

export const reconcile = (api: Api, fields: ReconcileFields) => api.post<Reconciliation>('/reconcile', fields)
