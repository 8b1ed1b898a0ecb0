/* _dl_find_object of glibc, which musl lacks: GCC's unwinder (libgcc_eh) calls it to find the table of
 * stack frames of the loaded object that contains an address. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct dl_find_object {
    unsigned long long flags;
    void *map_start, *map_end;
    void *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};

struct query {
    uintptr_t address;
    struct dl_find_object *found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct query *query = data;
    uintptr_t start = 0, end = 0, eh_frame = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t address = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME) eh_frame = address;
        if (header->p_type == PT_LOAD && query->address >= address && query->address < address + header->p_memsz)
            start = address, end = address + header->p_memsz;
    }
    if (!end || !eh_frame) return 0;
    *query->found = (struct dl_find_object){
        .map_start = (void *)start, .map_end = (void *)end, .eh_frame = (void *)eh_frame};
    return 1;
}

int _dl_find_object(void *address, struct dl_find_object *found) {
    struct query query = {(uintptr_t)address, found};
    return dl_iterate_phdr(visit, &query) ? 0 : -1;
}
