import { borderModes, kernelForms } from '@halogrid/kernels';
import { mapFormats } from '@halogrid/proto/job-limits';
import { type Access, httpCredentials } from '@halogrid/service';
import { listFolder } from './list-folder.ts';
import { type Route, route } from './route.ts';

/** Routes for the form that submits jobs: kernels, folders, and whether the caller may submit. */
export const submitRoutes = (access: Access): Route[] => [
  route(
    {
      method: 'GET',
      name: 'listKernels',
      path: '/kernels',
      role: 'read',
      summary: 'What a pipeline may be made of',
      answer: 'KernelsAnswer',
    },
    async () => ({ kernels: kernelForms(), borders: [...borderModes], mapFormats: [...mapFormats] }),
  ),
  route(
    {
      method: 'GET',
      name: 'listFolder',
      path: '/folder',
      role: 'submit',
      summary: 'What lies in a folder that sources may be in',
      query: 'FolderQuery',
      answer: 'FolderAnswer',
    },
    async ({ query }) => listFolder(query.path),
  ),
  route(
    {
      method: 'GET',
      name: 'getRights',
      path: '/may',
      role: 'read',
      summary: 'What the caller may do',
      answer: 'MayAnswer',
    },
    async ({ request, caller }) => {
      const credentials = httpCredentials(request);
      const { denial } = access.admit(credentials, 'submit');
      const isAdmin = access.admit(credentials, 'admin').caller !== undefined;
      return { submit: denial === undefined, why: denial?.sentence ?? '', admin: isAdmin, name: caller.name };
    },
  ),
];
