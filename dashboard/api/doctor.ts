// The server's health report, over the REST API: for owners of the server's first workspace.

import { queryOptions } from '@tanstack/react-query'
import type { DoctorReport, ReportedFinding } from '../../server/features/doctor/schema.ts'
import type { Api } from './client.ts'

export type { DoctorReport, ReportedFinding }

export const doctorQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'doctor'],
    queryFn: ({ signal }) => api.get<DoctorReport>('/doctor', { signal }),
    // A run reads all hits, so only the person starts another one.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
