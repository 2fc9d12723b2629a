// GET /v1/doctor: the health report of this server, for the owners of its first workspace. Everybody else gets 404.

import { apiRoute, dataResponse } from '../../http/api-route.ts'
import { notFound } from '../../lib/failure.ts'
import { toRole } from '../accounts/access/actor.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { isFirstWorkspace } from '../accounts/workspaces/first-workspace.ts'
import type { Doctor } from './report/doctor.ts'
import { DoctorReportShape } from './schema.ts'

const report = apiRoute({
  method: 'get',
  path: '/doctor',
  by: 'member',
  slow: true,
  operationId: 'getDoctorReport',
  tags: ['Server'],
  summary: 'Check the server',
  description:
    'For owners of the first workspace of the installation, who operate it; 404 for everybody else. A report holds for ' +
    'ten seconds, and concurrent requests share one run. The findings are those that `npx towpath doctor` prints.',
  responses: { 200: dataResponse(DoctorReportShape, 'The report') },
})

export const createDoctorApi = ({ doctor }: { doctor: Pick<Doctor, 'getReport'> }) =>
  createApi().openapi(report, async (c) => {
    const actor = c.get('actor')
    if (toRole(actor) !== 'owner' || !(await isFirstWorkspace(c.get('db').read, actor.workspaceId)))
      throw notFound('')
    return c.json({ data: await doctor.getReport() }, 200)
  })
