/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CLIBEDIT_SHIM_H
#define SWIFT_XMPP_CLIBEDIT_SHIM_H

#include <histedit.h>
#include <wchar.h>

/* Nothing links to libedit: it is loaded by the one command that needs it. el_set, el_get and history take variable
   arguments, which Swift cannot pass: one function for each use, which calls the function at the address that dlsym gave. */

typedef int (*shim_el_function)(EditLine *, int, ...);
typedef int (*shim_history_function)(History *, HistEvent *, int, ...);
typedef int (*shim_el_reader)(EditLine *, wchar_t *);
typedef unsigned char (*shim_el_command)(EditLine *, int);
typedef char *(*shim_el_prompt)(EditLine *);

static inline int shim_el_set_reader(void *el_set, EditLine *editor, shim_el_reader reader) {
    return ((shim_el_function)el_set)(editor, EL_GETCFN, reader);
}

static inline int shim_el_set_prompt(void *el_set, EditLine *editor, shim_el_prompt prompt) {
    return ((shim_el_function)el_set)(editor, EL_PROMPT_ESC, prompt, '\1');
}

static inline int shim_el_set_owner(void *el_set, EditLine *editor, void *owner) {
    return ((shim_el_function)el_set)(editor, EL_CLIENTDATA, owner);
}

static inline void *shim_el_get_owner(void *el_get, EditLine *editor) {
    void *owner = 0;
    return ((shim_el_function)el_get)(editor, EL_CLIENTDATA, &owner) == 0 ? owner : 0;
}

static inline int shim_el_set_emacs(void *el_set, EditLine *editor) {
    return ((shim_el_function)el_set)(editor, EL_EDITOR, "emacs");
}

static inline int shim_el_refresh(void *el_set, EditLine *editor) {
    return ((shim_el_function)el_set)(editor, EL_REFRESH);
}

static inline int shim_el_prepare_terminal(void *el_set, EditLine *editor) {
    return ((shim_el_function)el_set)(editor, EL_PREP_TERM, 1);
}

static inline int shim_el_bind(void *el_set, EditLine *editor, const char *key, const char *name, shim_el_command command) {
    int added = ((shim_el_function)el_set)(editor, EL_ADDFN, name, name, command);
    return added != 0 ? added : ((shim_el_function)el_set)(editor, EL_BIND, key, name, (char *)0);
}

static inline int shim_el_set_history(void *el_set, EditLine *editor, void *function, History *history) {
    return ((shim_el_function)el_set)(editor, EL_HIST, (shim_history_function)function, history);
}

static inline int shim_history_resize(void *function, History *history, int count) {
    HistEvent event;
    return ((shim_history_function)function)(history, &event, H_SETSIZE, count);
}

static inline int shim_history_enter(void *function, History *history, const char *line) {
    HistEvent event;
    return ((shim_history_function)function)(history, &event, H_ENTER, line);
}

#endif
